"""CLEval."""
