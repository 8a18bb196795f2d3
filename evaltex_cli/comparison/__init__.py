"""Differences between detectors, and gates on scores."""
