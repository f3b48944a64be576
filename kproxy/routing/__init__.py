"""Node <-> advertised address: the port and the listener of each node, and the real address of its broker."""
