"""kproxy.upstream.client_credentials: requests for a token, and everything that an endpoint can answer."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import parse_qs

import pytest

from kproxy.config.client_credentials import ClientCredentials
from kproxy.upstream.client_credentials import Token, TokenError, token_of, token_request

SECRET = "a:b/c d"
GRANT = {"token_endpoint": "https://h/token", "client_id": "k:proxy", "client_secret": SECRET}


def test_a_request_with_a_header() -> None:
    """Id and secret are form-encoded, so that neither's colon is the one between them."""
    body, headers = token_request(ClientCredentials.model_validate(GRANT), SECRET)
    assert body == b"grant_type=client_credentials"
    assert base64.b64decode(headers["Authorization"].removeprefix("Basic ")) == b"k%3Aproxy:a%3Ab%2Fc+d"
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"


def test_a_request_with_all_in_its_body() -> None:
    """Scope and audience are there where they are set."""
    more = {"client_authentication": "client_secret_post", "scope": "x y", "audience": "kafka"}
    body, headers = token_request(ClientCredentials.model_validate(GRANT | more), SECRET)
    assert "Authorization" not in headers
    assert parse_qs(body.decode()) == {
        "grant_type": ["client_credentials"],
        "scope": ["x y"],
        "audience": ["kafka"],
        "client_id": ["k:proxy"],
        "client_secret": [SECRET],
    }


@pytest.mark.parametrize(
    ("answer", "lifetime"),
    [
        ({"token_type": "bearer", "expires_in": 3600}, 3600),
        ({"token_type": "Bearer", "expires_in": "3599"}, 3599),
        ({"expires_in": 10.5}, 10.5),
        ({"expires_in": 1e300}, 7 * 86400),
        ({"expires_in": "9" * 5000}, 7 * 86400),
        ({}, 0),
        ({"expires_in": True}, 0),
        ({"expires_in": -1}, 0),
        ({"expires_in": float("nan")}, 0),
        ({"expires_in": "soon"}, 0),
        ({"expires_in": [1]}, 0),
    ],
)
def test_a_token(answer: dict[str, Any], lifetime: float) -> None:
    """Its lifetime is a number, or a number as text; what is neither is unknown."""
    assert token_of(200, json.dumps({"access_token": "a.b-c", **answer}).encode(), SECRET) == Token("a.b-c", lifetime)


def test_when_to_renew() -> None:
    """Between 75 and 85 % of the lifetime."""
    token = Token("t", 100)
    assert (token.renewed_after(0), token.renewed_after(0.5), token.renewed_after(0.999)) == (75, 80, 84.99)


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (200, b"", "no access_token"),
        (200, b"[1]", "no access_token"),
        (200, b"[" * 100_000, "no access_token"),
        (200, b'{"access_token": 5}', "no access_token"),
        (200, b'{"access_token": "two words"}', "no access_token"),
        (200, b'{"access_token": "t", "token_type": "mac"}', "its token_type is not Bearer"),
        (200, b'{"access_token": "t", "token_type": 1}', "its token_type is not Bearer"),
        (401, b'{"error": "invalid_client"}', "it answers 401 invalid_client; check client_id"),
        (400, b'{"error": "a\\nb"}', "it answers 400; check client_id"),
        (400, b'{"error": 7, "error_description": "one\\ntwo"}', "it answers 400 (one?two); check"),
        (403, b"<html>", "it answers 403; check client_id"),
        (302, b"", "it answers 302; redirects are not followed"),
        (503, b"", "it answers 503; check the URL and its log"),
        (
            400,
            json.dumps({"error": "e", "error_description": f"no {SECRET} x a%3Ab%2Fc+d"}).encode(),
            "e (no ********** x",
        ),
    ],
)
def test_no_token(status: int, body: bytes, why: str) -> None:
    """The reason is on one line, and has neither secret nor token."""
    with pytest.raises(TokenError) as caught:
        token_of(status, body, SECRET)
    assert why in str(caught.value)
    assert SECRET not in str(caught.value)
    assert "a%3Ab%2Fc+d" not in str(caught.value)


def test_a_long_description() -> None:
    """It is cut."""
    body = json.dumps({"error_description": "x" * 100_000}).encode()
    with pytest.raises(TokenError) as caught:
        token_of(500, body, SECRET)
    assert len(str(caught.value)) < 300
