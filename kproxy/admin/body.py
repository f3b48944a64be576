# This module is pure.
"""What the body of a POST or PUT says: a JSON object whose fields are known, or nothing. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from kproxy.admin.message import HttpError, Request

_CALLED: Final[Mapping[type, str]] = {
    str: "a string",
    bool: "true or false",
    int: "a whole number",
    list: "a list of strings",
    dict: "an object of strings",
}


def json_fields(request: Request, known: Mapping[str, type]) -> dict[str, Any]:
    """The fields of the body; without one none. `known` maps each to its type; null counts as not given.

    Raises `HttpError`: 415 for another media type, 400 for what is no such object.
    """
    if not request.body:
        return {}
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        reason = f"the body is {media_type or 'without a Content-Type'}; application/json is read"
        raise HttpError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, reason)
    given = {name: value for name, value in _object(request.body).items() if value is not None}
    for name, value in given.items():
        if name not in known:
            fields = ", ".join(known) or "none"
            raise HttpError(HTTPStatus.BAD_REQUEST, f"{name!r} is no field of this request; there are: {fields}")
        if not _is(value, known[name]):
            raise HttpError(HTTPStatus.BAD_REQUEST, f"{name}: {_CALLED[known[name]]} expected")
    return given


def _is(value: object, kind: type) -> bool:
    """JSON's types: true is no number; what a list or an object holds is text."""
    if isinstance(value, list | dict):
        inner = value if isinstance(value, list) else value.values()
        return kind is type(value) and all(isinstance(each, str) for each in inner)
    return type(value) is kind


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:  # nested a thousand deep
        raise HttpError(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise HttpError(HTTPStatus.BAD_REQUEST, "the body is not a JSON object")
    return value
