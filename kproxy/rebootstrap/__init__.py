"""Makes clients bootstrap again when the topology changes (KIP-1102, KIP-1242, KIP-899): which clients, and how."""
