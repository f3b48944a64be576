# This module is pure (no I/O, no clock).
"""Takes secrets out of text: user, password and query of URLs, and the values that the configuration says are secret.

`kproxy.observe.logs` applies it to every log line and traceback, `kproxy.config` to what it shows and to its errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

HIDDEN: Final = "**********"
SHORTEST: Final = 6
"""Shorter values are not looked for: they would be found in every other word. They are still hidden where they are
known to stand."""

# Up to the last @ of the word: a password may hold an @ or a slash that should have been escaped.
_USER: Final = re.compile(r"(?<=://)[^\s'\"<>]*@")
_QUERY: Final = re.compile(r"(://[^\s'\"<>?#]*)([?#][^\s'\"<>]+)")
_PARAMETER: Final = re.compile(r"([^=&#?]+=)?[^&#?]+")


def mask_urls(text: str) -> str:
    """Return the text with `https://user:password@host/?key=value` as `https://**********@host/?key=**********`."""
    if "://" not in text:
        return text
    return _QUERY.sub(_masked_query, _USER.sub(f"{HIDDEN}@", text))


def _masked_query(found: re.Match[str]) -> str:
    return found[1] + _mask_parameters(found[2])


def _mask_parameters(text: str) -> str:
    return _PARAMETER.sub(lambda each: f"{each[1] or ''}{HIDDEN}", text)


def mask_url(url: str) -> str:
    """Return one URL masked, whatever characters it has, and also if it lacks its scheme."""
    before, scheme, rest = url.partition("://") if "://" in url else ("", "", url)
    _, user, rest = rest.rpartition("@")
    path = re.split("[?#]", rest, maxsplit=1)[0]
    return f"{before}{scheme}{HIDDEN if user else ''}{user}{path}{_mask_parameters(rest[len(path) :])}"


class Secrets:
    """The values that must not be shown, wherever they turn up: in an exception's text, or in a server's answer."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None
        self.add(values)

    def add(self, values: Iterable[str]) -> None:
        """Hide these values from now on, too, also as they stand in JSON, in a repr and in a URL."""
        forms = {form for value in values for form in _forms(value.strip()) if len(form) >= SHORTEST}
        self._values |= forms
        longest_first = sorted(self._values, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def hide(self, text: str) -> str:
        """Return the text without secrets."""
        text = mask_urls(text)
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)


def _forms(value: str) -> set[str]:
    escaped = value.encode("unicode_escape").decode("ascii")
    return {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], escaped}


def printable(text: str) -> str:
    """Return a text that a client may have written, so that it neither breaks a line nor tells a terminal anything."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
