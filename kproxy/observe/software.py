# This module is pure.
"""Which software the clients are (KIP-511), as a set of labels that no client can make grow without bound."""

from __future__ import annotations

import re
from typing import Final

MAX_PAIRS: Final = 100  # (name, version) pairs
MAX_LENGTH: Final = 64  # characters of a name or a version that may become a label

_ALLOWED: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")  # KIP-511


def software_label(text: str | None) -> str:
    """A client's software name or version as a label: itself where KIP-511 allows it, else "unknown"."""
    if text is None or len(text) > MAX_LENGTH or not _ALLOWED.fullmatch(text):
        return "unknown"
    return text


class SoftwareCounts:
    """Connections by the client's software: `active` now, `total` ever; at most `limit` pairs, the rest are "other"."""

    __slots__ = ("active", "limit", "total")

    def __init__(self, limit: int = MAX_PAIRS) -> None:
        self.limit = limit
        self.active: dict[tuple[str, str], int] = {}
        self.total: dict[tuple[str, str], int] = {}

    def opened(self, name: str | None, version: str | None) -> tuple[str, str]:
        """Count a connection; returns the pair that `closed` takes."""
        pair = software_label(name), software_label(version)
        if pair not in self.total and len(self.total) >= self.limit:
            pair = "other", "other"
        self.active[pair] = self.active.get(pair, 0) + 1
        self.total[pair] = self.total.get(pair, 0) + 1
        return pair

    def closed(self, pair: tuple[str, str]) -> None:
        self.active[pair] -= 1
