"""TedEval."""
