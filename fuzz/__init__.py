"""Fuzzing: every reader, the parameter file, label pictures and whole commands; see README.md."""
