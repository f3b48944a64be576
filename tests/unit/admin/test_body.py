"""kproxy.admin.body: what a POST says, or why it says nothing that is understood."""

from __future__ import annotations

import json
from http import HTTPStatus

import pytest

from kproxy.admin.body import json_fields
from kproxy.admin.message import HttpError, Request

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
