"""Signals, processes and files. Nothing here knows what text detection is."""
