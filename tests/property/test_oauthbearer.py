"""Whatever a client sends as its token: it is refused, on one line, unless the issuer signed it and all is right."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproxy.authentication.key_set import KeySetError, parse_key_set
from kproxy.authentication.oauthbearer import TokenRefusedError, Verified, check_message
from tests.unit.authentication.tokens import (
    CLAIMS,
    NOW,
    SETTINGS,
    coded,
    jwk,
    key_set,
    keys,
    message,
    signed,
    with_header,
)

GOOD = message(signed())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
HEADERS = st.dictionaries(st.sampled_from(["alg", "kid", "crit", "typ", "jwk", "b64"]) | st.text(max_size=5), JSON)
CLAIM_NAMES = st.sampled_from(["iss", "aud", "sub", "exp", "nbf", "iat", "scope", "scp"])


def refused(data: bytes) -> None:
    """Assert that a message is refused, on one line."""
    with pytest.raises(TokenRefusedError) as caught:
        check_message(data, keys(), SETTINGS, NOW)
    assert str(caught.value).isprintable()
    assert json.loads(caught.value.answer)["status"] == "invalid_token"


def accepted(data: bytes) -> Verified | None:
    """Return what a message says if it is accepted, None if it is refused; nothing else may come of it."""
    try:
        return check_message(data, keys(), SETTINGS, NOW)
    except TokenRefusedError:
        refused(data)
        return None


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    """As a message, and as each part of a token."""
    refused(data)
    refused(message(".".join((coded(data), coded(data), coded(data)))))


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_a_byte_that_is_changed(place: int, by: int) -> None:
    """The message is refused, or it says the same as before: blanks and the case of `Bearer` do not count."""
    changed = bytearray(GOOD)
    changed[place] ^= by
    if (found := accepted(bytes(changed))) is not None:
        assert dict(found.claims) == CLAIMS


@given(HEADERS, JSON, st.binary(max_size=80))
def test_tokens_that_the_issuer_did_not_sign(header: dict[str, Any], claims: Any, signature: bytes) -> None:
    """Of any header and claims, with any signature."""
    parts = (json.dumps(header).encode(), json.dumps(claims).encode(), signature)
    refused(message(".".join(map(coded, parts))))


@given(HEADERS, st.dictionaries(CLAIM_NAMES, JSON))
def test_tokens_that_the_issuer_did_sign(header: dict[str, Any], claims: dict[str, Any]) -> None:
    """Of any header and claims: one that is accepted has an issuer, an end and a user as they should be."""
    every = {**CLAIMS, **claims}
    token = with_header(json.dumps({**header, "kid": "rsa", "alg": "RS256"}), json.dumps(every))
    if (found := accepted(message(token))) is not None:
        assert found.principal == every["sub"]
        assert found.principal.isprintable()
        assert every["iss"] == SETTINGS.issuer
        assert found.expires_at == every["exp"] > NOW - SETTINGS.clock_skew
        assert "crit" not in header


@given(st.binary(max_size=100) | JSON.map(lambda one: json.dumps(one).encode()))
def test_any_key_set(text: bytes) -> None:
    """It is a key set, or refused; as is any key in one."""
    for each in (text, b'{"keys": [' + text + b"]}"):
        with pytest.raises(KeySetError):
            parse_key_set(each)


@given(
    st.sampled_from(["rsa", "ES256"]),
    st.dictionaries(st.sampled_from(["kty", "n", "e", "crv", "x", "y", "kid", "alg"]), JSON),
)
def test_any_key(kind: str, changed: dict[str, Any]) -> None:
    """A key whose parts are anything is left out, or is one."""
    assert len(parse_key_set(key_set(jwk(kind, **changed), jwk("ES384"))).keys) in (1, 2)
