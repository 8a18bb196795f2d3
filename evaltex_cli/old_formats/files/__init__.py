"""What lies on disk: files, folders, archives, the names in them, the lines
and numbers of a text.
"""
