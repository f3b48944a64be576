# This module is pure.
"""Frames: an int32 size, then so many bytes."""

from __future__ import annotations

from kproxy.wire.primitives import INT32, Buffer


def frame(*chunks: Buffer) -> bytes:
    """The chunks as one frame, with their size in front."""
    return b"".join((INT32.pack(sum(map(len, chunks))), *chunks))
