"""Is the ground truth right? Where detectors agree with each other and not with it."""
