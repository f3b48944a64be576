# This module is pure.
"""Bytes to messages and back, nothing else; malformed bytes raise `kproxy.errors.MalformedMessageError`."""
