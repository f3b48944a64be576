"""kproxy.admin.message: targets and the shapes of responses."""

from __future__ import annotations

import json
from http import HTTPStatus

import pytest

from kproxy.admin.message import HttpError, error_response, json_response, split_target


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("/", "/", {}),
        ("/readyz?strict", "/readyz", {"strict": ""}),
        ("/a%20b?x=1&x=2&y=%2F", "/a b", {"x": "2", "y": "/"}),
        ("http://host:9/metrics?a=b", "/metrics", {"a": "b"}),
        ("*", "*", {}),
        ("/%ff", "/�", {}),
    ],
)
def test_targets_split(target: str, path: str, query: dict[str, str]) -> None:
    """Path and query, percent-decoded, of origin, absolute and asterisk form."""
    assert split_target(target) == (path, query)


@pytest.mark.parametrize("target", ["//[", "/?" + "&".join(f"a{i}=1" for i in range(100))])
def test_targets_that_cannot_be_read(target: str) -> None:
    """What the library cannot parse, or has more parameters than anyone means, is a 400."""
    with pytest.raises(HttpError) as caught:
        split_target(target)
    assert caught.value.status == HTTPStatus.BAD_REQUEST


def test_json_is_one_line() -> None:
    """Compact, with a line end for the terminal."""
    response = json_response({"a": [1, None]})
    assert (response.status, response.content_type, response.body) == (200, "application/json", b'{"a":[1,null]}\n')


def test_an_error_is_json_with_its_headers() -> None:
    """Status, reason and headers reach the client."""
    response = error_response(HttpError(HTTPStatus.METHOD_NOT_ALLOWED, "no", {"Allow": "GET"}))
    assert (response.status, dict(response.headers)) == (405, {"Allow": "GET"})
    assert json.loads(response.body) == {"error": "no"}
