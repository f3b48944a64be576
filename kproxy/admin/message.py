# This module is pure (no I/O, no clock).
"""Requests and responses as handlers see them: whole and decoded, with typed parameters, JSON bodies and preferences.

`Connection` makes a `Request` of each HTTP request, and sends the handler's `Response`. A wrong parameter or body is an
`HttpError` that says what was expected.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from math import ceil
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from kproxy.admin.listing import encode
from kproxy.errors import (
    BackendError,
    CommandError,
    ConflictError,
    InvalidArgumentError,
    KproxyError,
    NotFoundError,
    NotPersistedError,
    RetryLaterError,
)

_STATUS: Final[Mapping[type[CommandError], HTTPStatus]] = {
    InvalidArgumentError: HTTPStatus.BAD_REQUEST,
    NotFoundError: HTTPStatus.NOT_FOUND,
    ConflictError: HTTPStatus.CONFLICT,
    RetryLaterError: HTTPStatus.TOO_MANY_REQUESTS,
    BackendError: HTTPStatus.BAD_GATEWAY,
    NotPersistedError: HTTPStatus.INTERNAL_SERVER_ERROR,
}
_MAX_PARAMETERS: Final = 32
_MAX_PREFERENCES: Final = 64
_FLAGS: Final = {"": True, "1": True, "true": True, "0": False, "false": False}
_TYPE_NAMES: Final[Mapping[type, str]] = {
    str: "a string",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list of strings",
    dict: "an object of strings",
}


class HttpError(KproxyError):
    """A request that is answered with an error status; the client gets the reason."""

    def __init__(self, status: HTTPStatus, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.headers = headers or {}


@dataclass(frozen=True, slots=True)
class Request:
    """A request that was read to its end."""

    method: str
    path: str
    """As it came, percent-encoded: a name in it may hold a `/`."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Of a parameter given twice, the last value."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """By lower-case name."""
    body: bytes = b""
    segments: Mapping[str, str] = field(default_factory=dict)
    """The parts of the path where the route has a {name}, by name."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response, except for the headers that every response has."""

    status: HTTPStatus
    content_type: str
    body: bytes | Iterator[bytes]
    """Whole, or in pieces that are made when they are sent; making one takes less than a millisecond."""
    headers: Mapping[str, str] = field(default_factory=dict)


def split_target(target: str) -> tuple[str, dict[str, str]]:
    """Split a request target into path, as it came, and query; raises `HttpError` 400 when it cannot be parsed."""
    try:
        parts = urlsplit(target)
        found = parse_qs(parts.query, keep_blank_values=True, max_num_fields=_MAX_PARAMETERS)
    except ValueError as error:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"the request target cannot be read: {error}") from error
    return parts.path, {name: values[-1] for name, values in found.items()}


def json_response(content: object, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """A response of one line of JSON."""
    return Response(status, "application/json", encode(content) + b"\n")


def json_pieces(pieces: Iterator[bytes]) -> Response:
    """A response of JSON that is made while it is sent."""
    return Response(HTTPStatus.OK, "application/json", pieces)


def error_response(error: HttpError | CommandError) -> Response:
    """The response to a request that failed: status, headers, and the reason as JSON."""
    if isinstance(error, CommandError):
        error = _http_error(error)
    body = json_response({"error": str(error)}, error.status)
    return Response(body.status, body.content_type, body.body, error.headers)


def _http_error(error: CommandError) -> HttpError:
    wait = {"Retry-After": str(max(1, ceil(error.seconds)))} if isinstance(error, RetryLaterError) else None
    return HttpError(_STATUS.get(type(error), HTTPStatus.INTERNAL_SERVER_ERROR), str(error), wait)


def flag(request: Request, name: str) -> bool:
    """`?name` and `?name=true` are true; `?name=false` and no parameter are false."""
    value = request.query.get(name, "false").lower()
    if value not in _FLAGS:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{name}={value!r}: true or false expected")
    return _FLAGS[value]


def choice(request: Request, name: str, choices: Collection[str]) -> str | None:
    """One of the choices, or None when the parameter is absent."""
    value = request.query.get(name)
    if value is not None and value not in choices:
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{name}={value!r}: one of {', '.join(choices)} expected")
    return value


def integer(request: Request, name: str, default: int, low: int, high: int) -> int:
    """A number from `low` to `high`, or the default when the parameter is absent."""
    text = request.query.get(name)
    if text is None:
        return default
    # At most 19 digits: int() of a long text costs time, and no id is longer.
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and low <= int(text) <= high):
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{name}={text!r}: a whole number from {low} to {high} expected")
    return int(text)


def json_fields(request: Request, known: Mapping[str, type]) -> dict[str, Any]:
    """The fields of a JSON object in the body, without those that are null; an empty body has no fields.

    `known` maps each permitted field to its type. Raises `HttpError`: 415 for another media type, 400 for another body.
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
        if not _has_type(value, known[name]):
            raise HttpError(HTTPStatus.BAD_REQUEST, f"{name}: {_TYPE_NAMES[known[name]]} expected")
    return given


def _has_type(value: object, kind: type) -> bool:
    """By JSON's types: true is not a number. Lists and objects may hold strings only."""
    if isinstance(value, list | dict):
        inner = value if isinstance(value, list) else value.values()
        return kind is type(value) and all(isinstance(each, str) for each in inner)
    return type(value) is kind or (kind is float and type(value) is int)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:  # RecursionError: nested a thousand deep
        raise HttpError(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise HttpError(HTTPStatus.BAD_REQUEST, "the body is not a JSON object")
    return value


def wants_openmetrics(accept: str) -> bool:
    """True when the Accept header prefers OpenMetrics; a client that accepts anything gets the older text format."""
    openmetrics = _quality(accept, "application/openmetrics-text")
    return openmetrics > 0 and openmetrics >= _quality(accept, "text/plain")


def wants_gzip(accept_encoding: str) -> bool:
    """True when the Accept-Encoding header permits gzip."""
    return _quality(accept_encoding, "gzip") > 0


def _quality(header: str, *names: str) -> float:
    """The highest q of the names in a header of comma-separated preferences (RFC 9110, 12.5); 0.0 without any."""
    best = 0.0
    for preference in header.split(",", _MAX_PREFERENCES)[:_MAX_PREFERENCES]:
        name, *parameters = preference.split(";")
        if name.strip().lower() in names:
            best = max(best, _weight(parameters))
    return best


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
