"""EvaLTex's own text files."""
