"""How much memory and time a command may take."""

MINUTE = 60
"""Seconds for one command."""
FIXED = 100 << 20
"""Bytes for any command, however small its inputs."""
PER_IMAGE = 24
"""Bytes more for each image of an EvaLTex file."""
