# This module is pure.
"""Convert bytes to messages and back, nothing else; malformed bytes raise `kproxy.errors.MalformedMessageError`."""
