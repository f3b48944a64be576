# This module is pure (no I/O, no clock).
"""Convert bytes to messages and back, nothing else; malformed bytes raise `kproxy.errors.MalformedMessageError`."""
