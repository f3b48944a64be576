"""What the relay does with each API, one module for each of its modules."""
