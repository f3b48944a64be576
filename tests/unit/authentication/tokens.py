"""Tokens of an issuer with keys of several kinds, and tokens that nobody should accept."""

from __future__ import annotations

import base64
import json
from functools import cache
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from kproxy.authentication.key_set import KeySet, parse_key_set
from kproxy.config.oauthbearer import OAuthBearer

NOW: Final = 1_800_000_000.0
SETTINGS: Final = OAuthBearer.model_validate({"issuer": "https://i/", "audience": "kafka,other", "jwks_file": "/f"})
CLAIMS: Final[dict[str, Any]] = {"iss": "https://i/", "aud": "kafka", "sub": "alice", "exp": NOW + 60}
CURVES: Final = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}


@cache
def private(kind: str) -> Any:
    """Return the issuer's key of a kind: `rsa`, `rsa-1024`, or ES256, ES384, ES512; always the same one."""
    if kind in CURVES:
        return ec.generate_private_key(CURVES[kind])
    return rsa.generate_private_key(65537, int(kind.partition("-")[2] or 2048))


def jwk(kind: str, **more: Any) -> dict[str, Any]:
    """Return a public key as the issuer publishes it; its id is its kind."""
    to_jwk = ECAlgorithm.to_jwk if kind in CURVES else RSAAlgorithm.to_jwk
    return {**json.loads(to_jwk(private(kind).public_key())), "kid": kind, "use": "sig", **more}


def key_set(*keys: dict[str, Any]) -> bytes:
    """Return the document of the issuer's keys."""
    return json.dumps({"keys": keys}).encode()


@cache
def keys() -> KeySet:
    """The issuer's keys, one of each kind."""
    return parse_key_set(key_set(jwk("rsa"), *(jwk(curve) for curve in CURVES)))


def signed(algorithm: str = "RS256", headers: dict[str, Any] | None = None, **claims: Any) -> str:
    """Return a token with these claims over the usual ones; None takes a claim away."""
    kind = algorithm if algorithm in CURVES else "rsa"
    all_of_them = {name: value for name, value in {**CLAIMS, **claims}.items() if value is not None}
    return of_text(json.dumps(all_of_them), algorithm, {"kid": kind, **(headers or {})})


def of_text(payload: str, algorithm: str = "RS256", headers: dict[str, Any] | None = None) -> str:
    """Return a token whose claims are this text."""
    kind = algorithm if algorithm in CURVES else "rsa"
    head = {name: value for name, value in (headers or {"kid": kind}).items() if value is not None}
    return with_header(json.dumps({"alg": algorithm, **head}), payload, algorithm)


def with_header(header: str, payload: str, algorithm: str = "RS256") -> str:
    """Return a token of these two texts, with the signature that an algorithm makes of them."""
    text = ".".join(map(coded, (header.encode(), payload.encode())))
    kind = algorithm if algorithm in CURVES else "rsa"
    signature = jwt.algorithms.get_default_algorithms()[algorithm].sign(text.encode(), private(kind))
    return f"{text}.{coded(signature)}"


def coded(data: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def message(token: str, before: str = "n,,") -> bytes:
    """Return a client's first message."""
    return f"{before}\x01auth=Bearer {token}\x01\x01".encode()
