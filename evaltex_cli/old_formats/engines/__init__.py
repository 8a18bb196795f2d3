"""What OCR engines and their tools write, one file per family."""
