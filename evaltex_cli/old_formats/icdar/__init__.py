"""Text files of ICDAR's kind: one file per image, one line per object."""
