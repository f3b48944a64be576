"""Replaces the part of a page that is made from code, between its two marks.

The modules that write parts of docs/ call it: developers run them, kproxy does not. It imports nothing of kproxy.
"""

from __future__ import annotations

from pathlib import Path


def with_part(name: Path, page: str, begin: str, part: str, end: str) -> str:
    """Return the text of a page with `part` between the marks; raise ValueError, with its name, when one is missing."""
    before, found_begin, rest = page.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        raise ValueError(f"{name}: there must be {begin!r} and {end!r}")
    return f"{before}{begin}{part}{end}{after}"
