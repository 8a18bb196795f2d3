"""Adapters to training and tracking libraries, one file each; only that file imports the library."""
