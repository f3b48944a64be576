# This module is pure (no I/O, no clock).
"""Regexes of users, for RE2: matching takes time linear in the text, whatever the pattern.

Rooms with patterns among their settings compile them when they start, and at each reload. Most configurations have
none, so RE2 (3 MiB) is loaded with the first pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    import re2

T = TypeVar("T")
LONGEST_REMEMBERED: Final = 256
"""Characters of a text that is remembered for speed. Some may have 32 kB, and anybody may ask for 10,000 of them."""
_REMEMBERED: Final = 10_000
_MEMORY: Final = 1 << 20
"""Bytes of RE2's automaton; it starts anew when they are used up."""


def compiled(pattern: str) -> re2._Regexp:
    """Return the regex; raises `ValueError` with the reason for what RE2 refuses, as look-around or back references."""
    import re2  # noqa: PLC0415 - most configurations need none

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise ValueError(error.args[0].decode("utf-8", "replace")) from error
    except UnicodeEncodeError as error:  # of a variable's bytes that are no UTF-8; it prints badly
        raise ValueError(error.reason) from error


def rule_pattern(pattern: str) -> re2._Regexp:
    """Return as `compiled`, where the error has to show the pattern, too."""
    try:
        return compiled(pattern)
    except ValueError as error:
        raise ValueError(f"{pattern!a} is not a regex (RE2): {error}") from error


class FirstMatch(Generic[T]):
    """Rules in their order: what belongs to the first one whose pattern matches a whole text; it is remembered."""

    def __init__(self, rules: Sequence[tuple[re2._Regexp, T]]) -> None:
        self._rules = rules
        self._known: dict[str, T | None] = {}

    def find(self, text: str) -> T | None:
        """Return what belongs to the text, None where no pattern matches."""
        try:
            return self._known[text]
        except KeyError:
            pass
        found = next((belonging for pattern, belonging in self._rules if pattern.fullmatch(text)), None)
        if len(text) <= LONGEST_REMEMBERED:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[text] = found
        return found
