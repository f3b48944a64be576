"""Clients bootstrap again when the topology behind them changes (KIP-1102, KIP-1242, KIP-899): who is told, and how."""
