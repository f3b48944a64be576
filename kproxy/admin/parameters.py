# This module is pure.
"""Query parameters with types: a wrong value is a 400 that says what was expected. Pure."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus

from kproxy.admin.message import HttpError, Request

_FLAGS = {"": True, "1": True, "true": True, "0": False, "false": False}


def flag(request: Request, name: str) -> bool:
    """`?name` and `?name=true` are true, `?name=false` and its absence are false."""
    value = request.query.get(name, "false").lower()
    if value not in _FLAGS:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{name}={value!r}: true or false expected")
    return _FLAGS[value]


def choice(request: Request, name: str, choices: Collection[str]) -> str | None:
    """One of the words, or None when it is not given."""
    value = request.query.get(name)
    if value is not None and value not in choices:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{name}={value!r}: one of {', '.join(choices)} expected")
    return value


def integer(request: Request, name: str, default: int, low: int, high: int) -> int:
    text = request.query.get(name)
    if text is None:
        return default
    # At most 19 digits: int() of a long text costs time, and no id is longer.
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and low <= int(text) <= high):
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{name}={text!r}: a whole number from {low} to {high} expected")
    return int(text)
