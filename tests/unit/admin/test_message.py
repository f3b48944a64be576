"""kproxy.admin.message: requests, their parameters, bodies and preferences, and the shapes of responses."""

from __future__ import annotations

import json
from http import HTTPStatus

import pytest

from kproxy.admin import message
from kproxy.admin.message import (
    HttpError,
    Request,
    choice,
    error_response,
    flag,
    integer,
    json_fields,
    json_response,
    split_target,
    wants_gzip,
    wants_openmetrics,
)
from kproxy.errors import (
    CommandError,
    ConflictError,
    InvalidArgumentError,
    NotFoundError,
    NotPersistedError,
    RetryLaterError,
)


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("/", "/", {}),
        ("/readyz?strict", "/readyz", {"strict": ""}),
        ("/a%20b?x=1&x=2&y=%2F", "/a%20b", {"x": "2", "y": "/"}),
        ("http://host:9/metrics?a=b", "/metrics", {"a": "b"}),
        ("*", "*", {}),
        ("/%ff", "/%ff", {}),
    ],
)
def test_targets_split(target: str, path: str, query: dict[str, str]) -> None:
    """Path, as it came, and query, percent-decoded, of origin, absolute and asterisk form."""
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
    assert response.body == b'{"error":"no"}\n'


@pytest.mark.parametrize(
    ("error", "status", "headers"),
    [
        (InvalidArgumentError("no"), 400, {}),
        (NotFoundError("no"), 404, {}),
        (ConflictError("no"), 409, {}),
        (RetryLaterError("no", 6.2), 429, {"Retry-After": "7"}),
        (NotPersistedError("no"), 500, {}),
    ],
)
def test_an_error_of_a_command_has_its_status(error: CommandError, status: int, headers: dict[str, str]) -> None:
    """With its reason, word for word."""
    response = error_response(error)
    assert (response.status, dict(response.headers)) == (status, headers)
    assert response.body == b'{"error":"no"}\n'


def test_every_error_of_a_command_has_a_status() -> None:
    """A new one needs a row in the table."""
    assert set(message._STATUS) == set(CommandError.__subclasses__())


def of(**query: str) -> Request:
    return Request("GET", "/", query)


@pytest.mark.parametrize(
    ("query", "value"),
    [({}, False), ({"on": ""}, True), ({"on": "TRUE"}, True), ({"on": "1"}, True), ({"on": "0"}, False)],
)
def test_flags(query: dict[str, str], value: bool) -> None:
    """Present without a value means yes."""
    assert flag(of(**query), "on") is value


def test_a_flag_that_is_neither() -> None:
    """Anything else is refused by name."""
    with pytest.raises(HttpError, match="on='perhaps': true or false expected"):
        flag(of(on="perhaps"), "on")


def test_choices() -> None:
    """One of the words as they stand, or nothing."""
    assert [choice(of(), "w", ("no", "129")), choice(of(w="129"), "w", ("no", "129"))] == [None, "129"]
    for text in ("", "NO", "maybe"):
        with pytest.raises(HttpError, match=f"w='{text}': one of no, 129 expected"):
            choice(of(w=text), "w", ("no", "129"))


def test_integers() -> None:
    """The default without one, else its value, with both ends allowed."""
    assert [integer(of(), "n", 5, 1, 9), integer(of(n="1"), "n", 5, 1, 9), integer(of(n="9"), "n", 5, 1, 9)] == [
        5,
        1,
        9,
    ]


@pytest.mark.parametrize("text", ["", "0", "10", "-1", "+1", " 1", "1.0", "١", "²", "x", "9" * 5000])
def test_integers_that_are_none(text: str) -> None:
    """Out of range, not ASCII digits, or longer than a number may be."""
    with pytest.raises(HttpError, match="a whole number from 1 to 9 expected"):
        integer(of(n=text), "n", 5, 1, 9)


KNOWN = {"to": str, "force": bool}


def post(body: bytes, content_type: str | None = "application/json") -> Request:
    return Request("POST", "/", headers={} if content_type is None else {"content-type": content_type}, body=body)


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (b"{}", {}),
        (b' {"to": "west"}\n', {"to": "west"}),
        (b'{"to": null, "force": true}', {"force": True}),
        (b'{"to": "\\u00e4", "force": false}', {"to": "ä", "force": False}),
    ],
)
@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON; charset=utf-8"])
def test_fields(body: bytes, fields: dict[str, object], content_type: str) -> None:
    """Those that are given; null counts as not given."""
    assert json_fields(post(body, content_type), KNOWN) == fields


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/json"])
def test_no_body(content_type: str | None) -> None:
    """Nothing is needed to say nothing."""
    assert json_fields(post(b"", content_type), KNOWN) == {}


@pytest.mark.parametrize(
    "content_type", [None, "", "text/plain", "application/x-www-form-urlencoded", "application/json2"]
)
def test_what_a_form_of_a_browser_can_send(content_type: str | None) -> None:
    """It is refused: only scripts that may ask first can send JSON as such."""
    with pytest.raises(HttpError, match="application/json is read") as caught:
        json_fields(post(b"{}", content_type), KNOWN)
    assert caught.value.status == HTTPStatus.UNSUPPORTED_MEDIA_TYPE


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "the body is not JSON: "),
        (b"to=west", "the body is not JSON: "),
        (b"\xff\xfe{}", "the body is not JSON: "),
        (b"[" * 60_000, "the body is not JSON: "),
        (b"[]", "the body is not a JSON object"),
        (b'"west"', "the body is not a JSON object"),
        (b"null", "the body is not a JSON object"),
        (b'{"upstream": "west"}', "'upstream' is no field of this request; there are: to, force"),
        (b'{"to": 5}', "to: a string expected"),
        (b'{"force": "yes"}', "force: true or false expected"),
        (b'{"force": 1}', "force: true or false expected"),
    ],
)
def test_what_is_not_understood(body: bytes, reason: str) -> None:
    """A 400 that says what."""
    with pytest.raises(HttpError) as caught:
        json_fields(post(body), KNOWN)
    assert caught.value.status == HTTPStatus.BAD_REQUEST
    assert str(caught.value).startswith(reason)


def test_a_request_without_fields() -> None:
    """Any is one too many."""
    with pytest.raises(HttpError, match="'to' is no field of this request; there are: none"):
        json_fields(post(b'{"to": "west"}'), {})


@pytest.mark.parametrize(
    ("value", "kind"),
    [("[]", list), ('["a", "b"]', list), ("{}", dict), ('{"a": "b"}', dict), ("0", int), ("-5", int), ("true", bool)],
)
def test_types(value: str, kind: type) -> None:
    """What is asked for is taken."""
    assert json_fields(post(f'{{"x": {value}}}'.encode()), {"x": kind}) == {"x": json.loads(value)}


@pytest.mark.parametrize(
    ("value", "kind", "called"),
    [
        ("[1]", list, "a list of strings"),
        ('{"a": "b"}', list, "a list of strings"),
        ('"a"', list, "a list of strings"),
        ('["a"]', dict, "an object of strings"),
        ('{"a": 1}', dict, "an object of strings"),
        ('{"a": ["b"]}', dict, "an object of strings"),
        ("true", int, "a whole number"),
        ("1.0", int, "a whole number"),
        ('["a"]', str, "a string"),
    ],
)
def test_other_types(value: str, kind: type, called: str) -> None:
    """What is not is refused: true is no number, and what a list holds counts."""
    with pytest.raises(HttpError, match=f"^x: {called} expected$"):
        json_fields(post(f'{{"x": {value}}}'.encode()), {"x": kind})


PROMETHEUS_2 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3_TEXT_FIRST = "text/plain;version=0.0.4;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1"


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", False),
        ("*/*", False),
        ("text/html,application/xhtml+xml,*/*;q=0.8", False),
        (PROMETHEUS_2, True),
        (PROMETHEUS_3_TEXT_FIRST, False),
        ("application/openmetrics-text", True),
        ("Application/OpenMetrics-Text; version=1.0.0", True),
        ("application/openmetrics-text;q=0", False),
        ("application/openmetrics-text;q=much", False),
        ("application/openmetrics-text;version=nonsense", True),
        (",;,;q=,", False),
    ],
)
def test_openmetrics_goes_to_a_client_that_prefers_it(accept: str, wanted: bool) -> None:
    """The text format is the default."""
    assert wants_openmetrics(accept) is wanted


@pytest.mark.parametrize(
    ("header", "wanted"),
    [("", False), ("gzip", True), ("deflate, GZIP;q=0.5", True), ("gzip;q=0", False), ("br", False), ("x-gzip", False)],
)
def test_gzip_goes_to_a_client_that_accepts_it(header: str, wanted: bool) -> None:
    """Only by its name, and not when its weight is zero."""
    assert wants_gzip(header) is wanted
