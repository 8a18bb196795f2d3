"""Every confidence threshold of one unfiltered detection file at once, and which to choose."""
