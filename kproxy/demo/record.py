"""The demo's records: a number, the time of sending, and filler; readable in any consumer.

The producer encodes each value; the consumers decode it.
"""

from __future__ import annotations

from typing import Final

SIZE: Final = 1024
_HEAD: Final = b"%012d %020d "
_HEAD_BYTES: Final = 34
_FILLER: Final = (b"kproxy carries this record to the broker and back. " * 20)[: SIZE - _HEAD_BYTES]


def encode(number: int, sent_ns: int) -> bytes:
    """Return a value of `SIZE` bytes; `sent_ns` is from a monotonic clock."""
    return _HEAD % (number, sent_ns) + _FILLER


def decode(value: bytes) -> tuple[int, int]:
    """Return number and time of sending. Raise ValueError for a value that `encode` did not make."""
    return int(value[:12]), int(value[13:33])
