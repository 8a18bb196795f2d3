"""DetEval and ICDAR 2013: recall and precision of areas, with one-to-many matches."""
