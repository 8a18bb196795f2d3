"""Any readable input to any writable format."""
