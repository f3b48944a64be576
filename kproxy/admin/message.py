# This module is pure.
"""A request and a response as handlers see them: whole, decoded, without sockets. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
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
