"""Hosted groups: the classic group coordinator in the proxy. The assignments stay with the clients."""
