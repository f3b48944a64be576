# This module is pure.
"""What becomes of items, by the answer of where they were to go."""

from __future__ import annotations

from enum import Enum
from typing import Final

from kproxy.errors import NONE, ErrorClass, classify


class Verdict(Enum):
    """What becomes of the items that an answer is about."""

    DELIVERED = "delivered"
    AGAIN = "again"
    """The same may be taken later."""
    APART = "apart"
    """Too large together, or one of them is not what is taken: the others may be."""
    REFUSED = "refused"


_TOO_LARGE: Final = frozenset({10, 18})  # MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE
_RETRIABLE: Final = frozenset({ErrorClass.RETRIABLE, ErrorClass.REFRESH_RETRIABLE})


def verdict_on_code(code: int) -> Verdict:
    """By Kafka's error code of a partition."""
    if code == NONE:
        return Verdict.DELIVERED
    if code in _TOO_LARGE:
        return Verdict.APART
    return Verdict.AGAIN if classify(code) in _RETRIABLE else Verdict.REFUSED
