"""Adapters to training and tracking libraries, each imported only where it is used."""
