"""EvaLTex."""
