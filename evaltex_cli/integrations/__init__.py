"""Adapters to training and tracking libraries, one file each; only it imports the library."""
