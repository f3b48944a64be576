"""Records that can be made again from a seed: what was produced is what must be consumed, byte for byte."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Collection
from typing import Any

PATIENCE = 60.0
"""Seconds until a consumer that has not seen everything gives up; it then reports what is missing."""


def record(seed: str, number: int) -> tuple[bytes, bytes]:
    """Return key and value of the record `number`: the value is 64 to 1,024 bytes of any value, zero bytes too."""
    key = f"{seed}-{number}".encode()
    block = hashlib.sha256(key).digest()
    return key, block * (2 + block[0] % 31)


def number_of(key: bytes) -> int:
    """The number under which a record was made."""
    return int(key.rpartition(b"-")[2])


def compare(seed: str, acknowledged: Collection[int], consumed: list[tuple[bytes, bytes]]) -> dict[str, int]:
    """Return how the consumed records differ from the acknowledged ones."""
    keys = {key for key, _ in consumed}
    return {
        "acknowledged": len(acknowledged),
        "consumed": len(consumed),
        "missing": sum(record(seed, number)[0] not in keys for number in acknowledged),
        "duplicates": len(consumed) - len(keys),
        "wrong": sum(record(seed, number_of(key)) != (key, value) for key, value in consumed),
    }


def main(**scenarios: Callable[..., dict[str, Any]]) -> None:
    """Run `SCENARIO JSON-SETTINGS` of the command line; the result is printed as one JSON line."""
    settings = json.loads(sys.argv[2])
    print(json.dumps(scenarios[sys.argv[1]](**settings)), flush=True)
