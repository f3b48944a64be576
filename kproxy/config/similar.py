# This module is pure (no I/O, no clock).
"""The name that somebody may have meant who wrote one that is not known."""

from __future__ import annotations

from collections.abc import Iterable


def hint(name: str, known: Iterable[str], prefix: str = "") -> str:
    """Return the end of an error's line: whether the most similar known name was meant, or "" where none is similar."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for a mistake

    found = get_close_matches(name, list(known), n=1)
    return f"; did you mean {prefix}{found[0]}?" if found else ""
