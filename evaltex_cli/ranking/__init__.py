"""Who is best: ranks of many detectors with intervals, ties, and where protocols disagree."""
