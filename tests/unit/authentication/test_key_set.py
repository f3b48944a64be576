"""kproxy.authentication.key_set: which keys of a document check signatures, and documents that hold none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jwt.algorithms import RSAAlgorithm

from kproxy.authentication.key_set import KeySetError, parse_key_set
from tests.unit.authentication.tokens import jwk, key_set, keys, private


def test_keys_of_every_kind() -> None:
    """An RSA key checks all of RS and PS, a curve its own; `alg` says less."""
    found = {key.key_id: sorted(key.algorithms) for key in keys().keys}
    assert found == {
        "rsa": ["PS256", "PS384", "PS512", "RS256", "RS384", "RS512"],
        **{curve: [curve] for curve in ("ES256", "ES384", "ES512")},
    }
    (one,) = parse_key_set(key_set(jwk("rsa", alg="RS512"))).keys
    assert one.algorithms == {"RS512"}
    assert (keys().knows("rsa"), keys().knows("other")) == (True, False)


@pytest.mark.parametrize(
    "other",
    [
        jwk("rsa", use="enc"),
        jwk("rsa", key_ops=["encrypt"]),
        jwk("rsa", key_ops="verify"),
        jwk("rsa", kid=5),
        jwk("rsa", alg="HS256"),
        jwk("rsa", alg=[]),
        jwk("rsa", n="AA"),
        jwk("rsa", n=5),
        jwk("rsa", e=None),
        jwk("ES256", x="AA"),
        jwk("ES256", crv="P-192"),
        jwk("ES256", crv=[]),
        jwk("rsa-1024"),
        {"kty": "RSA"},
        {"kty": "oct", "k": "c2VjcmV0", "alg": "HS256"},
        {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
        {"kty": ["RSA"]},
        {},
        5,
        None,
    ],
)
def test_what_is_left_out(other: Any) -> None:
    """Keys for something else, weak ones, secrets, and what is no key: the others count all the same."""
    assert [key.key_id for key in parse_key_set(key_set(other, jwk("ES384"))).keys] == ["ES384"]
    with pytest.raises(KeySetError, match="none of its 1 keys is an RSA key of 2048 bits or an EC key to sign"):
        parse_key_set(key_set(other))


def test_a_key_pair() -> None:
    """Where an issuer publishes its private key by mistake, kproxy keeps the public one alone."""
    pair = json.loads(RSAAlgorithm.to_jwk(private("rsa")))
    with pytest.raises(KeySetError):
        parse_key_set(key_set(pair))  # its `key_ops` say that it is to sign with
    (key,) = parse_key_set(key_set(pair | {"key_ops": ["sign", "verify"]})).keys
    assert (key.key_id, key.public) == (None, private("rsa").public_key())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "no JSON"),
        (b"<html>", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "it has no list `keys`"),
        (b'{"keys": {}}', "it has no list `keys`"),
        (b'{"keys": []}', "none of its 0 keys"),
        (key_set(*[{}] * 257), "more than 256 keys"),
    ],
)
def test_no_key_set(text: bytes, why: str) -> None:
    """The reason is said."""
    with pytest.raises(KeySetError, match=why):
        parse_key_set(text)
