"""Which settings gave that number? Published figures in, the commands that reproduce them out."""
