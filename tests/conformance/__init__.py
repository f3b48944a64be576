"""What client libraries do about each class of error (KIP-1050), measured: `make conformance` writes the page."""
