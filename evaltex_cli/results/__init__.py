"""Writers of results. They read an `Evaluation`; nobody here computes a score."""
