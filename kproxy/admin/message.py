# This module is pure.
"""A request and a response as handlers see them: whole, decoded, without sockets. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from kproxy.errors import KproxyError

_MAX_PARAMETERS = 32


class HttpError(KproxyError):
    """A request that gets an error status; the reason goes to the client."""

    def __init__(self, status: HTTPStatus, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.headers = headers or {}


@dataclass(frozen=True, slots=True)
class Request:
    """`path` is percent-decoded; of a query parameter given twice the last counts; header names are lower case.

    `segments` holds what stood in the path where the route has a {name}.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    segments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Response:
    status: HTTPStatus
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def split_target(target: str) -> tuple[str, dict[str, str]]:
    """Path and query of a request target; raises `HttpError` 400 for one that is neither."""
    try:
        parts = urlsplit(target)
        found = parse_qs(parts.query, keep_blank_values=True, max_num_fields=_MAX_PARAMETERS)
    except ValueError as error:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"the request target cannot be read: {error}") from error
    return unquote(parts.path), {name: values[-1] for name, values in found.items()}


def json_response(content: object, status: HTTPStatus = HTTPStatus.OK) -> Response:
    return Response(status, "application/json", json.dumps(content, separators=(",", ":")).encode() + b"\n")


def error_response(error: HttpError) -> Response:
    body = json_response({"error": str(error)}, error.status)
    return Response(body.status, body.content_type, body.body, error.headers)


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


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


def quality(header: str, *names: str) -> float:
    """The highest q of the names in a header of comma-separated preferences; 0.0 when none is there."""
    best = 0.0
    for preference in header.split(","):
        name, *parameters = preference.split(";")
        if name.strip().lower() in names:
            best = max(best, _weight(parameters))
    return best


def wants_openmetrics(accept: str) -> bool:
    """Whether OpenMetrics comes first; a client that only accepts anything gets the older text format."""
    openmetrics = quality(accept, "application/openmetrics-text")
    return openmetrics > 0 and openmetrics >= quality(accept, "text/plain")


def wants_gzip(accept_encoding: str) -> bool:
    return quality(accept_encoding, "gzip") > 0
