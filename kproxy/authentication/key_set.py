# This module is pure (no I/O, no clock).
"""The keys of an issuer (a JWK set, RFC 7517), and the signatures that they check.

`KeySource` reads a key set from a file or a URL; `check_token` finds a token's key in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK, PyJWTError
from jwt.algorithms import get_default_algorithms

_RSA: Final = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_CURVES: Final[Mapping[str, str]] = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}
_ALGORITHMS: Final = get_default_algorithms()
"""PyJWT's: `Key.algorithms` has no other names than those above."""
_SMALLEST_RSA: Final = 2048
_LARGEST_RSA: Final = 8192
"""Bits: the work of a check grows with the square."""
_MOST_KEYS: Final = 256


class KeySetError(Exception):
    """No key set that can be used: the text says why, on one line."""


@dataclass(frozen=True, slots=True)
class Key:
    """A public key; `algorithms` are those of the signatures that it may check."""

    key_id: str | None
    algorithms: frozenset[str]
    public: RSAPublicKey | EllipticCurvePublicKey


@dataclass(frozen=True, slots=True)
class KeySet:
    """The keys of an issuer."""

    keys: tuple[Key, ...] = ()

    def fitting(self, key_id: str | None, algorithm: str) -> Sequence[Key]:
        """Return the keys that may have signed a token with this header; none when its key is unknown."""
        return [key for key in self.keys if key_id in (None, key.key_id) and algorithm in key.algorithms]

    def knows(self, key_id: str) -> bool:
        """True when there is a key of this id, whatever it may check."""
        return any(key.key_id == key_id for key in self.keys)


def parse_key_set(text: bytes) -> KeySet:
    """Return the keys that can check signatures; others, as those for encryption, are left out. Raises KeySetError."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise KeySetError("it is no JSON") from None
    found = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise KeySetError("it is no JWK set: it has no list `keys`")
    if len(found) > _MOST_KEYS:
        raise KeySetError(f"it has more than {_MOST_KEYS} keys")
    keys = tuple(_usable(found))
    if not keys:
        raise KeySetError(f"none of its {len(found)} keys is an RSA key of {_SMALLEST_RSA} bits or an EC key to sign")
    return KeySet(keys)


def _usable(found: Sequence[Any]) -> Iterator[Key]:
    for one in found:
        if isinstance(one, dict) and _is_for_signatures(one):
            key = _key(one)
            if key is not None and key.algorithms:
                yield key


def _is_for_signatures(jwk: Mapping[str, Any]) -> bool:
    operations = jwk.get("key_ops", ["verify"])
    return jwk.get("use", "sig") == "sig" and isinstance(operations, list) and "verify" in operations


def _key(jwk: Mapping[str, Any]) -> Key | None:
    """Return the public key, also of a key pair; None for what is no key of a kind that kproxy accepts."""
    key_id, named = jwk.get("kid"), jwk.get("alg")
    public, algorithms = _public(jwk)
    if public is None or not isinstance(key_id, str | None):
        return None
    return Key(key_id, algorithms if named is None else algorithms & frozenset({str(named)}), public)


def _public(jwk: Mapping[str, Any]) -> tuple[RSAPublicKey | EllipticCurvePublicKey | None, frozenset[str]]:
    kind, curve = jwk.get("kty"), jwk.get("crv")
    try:
        if kind == "RSA":
            rsa = PyJWK({"kty": kind, "n": jwk["n"], "e": jwk["e"]}, "RS256").key
            assert isinstance(rsa, RSAPublicKey)
            return (rsa, _RSA) if _SMALLEST_RSA <= rsa.key_size <= _LARGEST_RSA else (None, frozenset())
        if kind == "EC" and isinstance(curve, str) and curve in _CURVES:
            ec = PyJWK({"kty": kind, "crv": curve, "x": jwk["x"], "y": jwk["y"]}, _CURVES[curve]).key
            assert isinstance(ec, EllipticCurvePublicKey)
            return ec, frozenset({_CURVES[curve]})
    except (PyJWTError, KeyError, ValueError, TypeError, AttributeError, OverflowError):
        pass
    return None, frozenset()


def verifies(key: Key, algorithm: str, signed: bytes, signature: bytes) -> bool:
    """Return True when `signature` is the key's of `signed`; `algorithm` is one of the key's."""
    return bool(_ALGORITHMS[algorithm].verify(signed, key.public, signature))
