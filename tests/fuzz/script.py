"""The form of every input: a few settings, and steps that a target takes one after the other.

A fuzzer changes bytes, so any bytes are a script: lengths are cut to what is there, and missing settings are 0.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import NamedTuple

SETTINGS = 3
_STEP = struct.Struct(">BH")
MAX_STEP = 0xFFFF


class Step(NamedTuple):
    """What kind of step it is, a byte whose meaning the target knows, and its bytes."""

    kind: int
    data: bytes


class Script(NamedTuple):
    """The settings, and the steps in their order."""

    settings: bytes
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, steps: Iterable[tuple[int, bytes]], settings: bytes = bytes(SETTINGS)) -> Script:
        """Return a script; a step that is too long for its length field is cut."""
        return cls(settings, tuple(Step(kind, data[:MAX_STEP]) for kind, data in steps))

    def encode(self) -> bytes:
        """Return the bytes of which `decode` makes the same script."""
        return self.settings + b"".join(_STEP.pack(kind, len(data)) + data for kind, data in self.steps)


def decode(data: bytes) -> Script:
    """Return the script that these bytes are; never raises."""
    steps: list[Step] = []
    pos = SETTINGS
    while pos + _STEP.size <= len(data):
        kind, length = _STEP.unpack_from(data, pos)
        pos += _STEP.size
        steps.append(Step(kind, data[pos : pos + length]))
        pos += length
    return Script(data[:SETTINGS].ljust(SETTINGS, b"\0"), tuple(steps))
