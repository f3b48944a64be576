# This module is pure (no I/O, no clock).
"""The client's side of SCRAM (RFC 5802, RFC 7677): it proves that it knows the password, and so must the broker.

`sasl.exchange` begins one for each connection of kproxy's own to a broker that asks for SCRAM.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Generator
from functools import lru_cache
from typing import Final, NamedTuple

from kproxy.errors import KproxyError

Exchange = Generator[bytes, bytes, None]
"""Yields what to send, receives the broker's answer, and returns when the client is content; raises SaslError."""

FEWEST_ITERATIONS: Final = 4096
"""Kafka's own minimum, and RFC 7677's: with fewer, who hears an exchange guesses the password sooner."""
MOST_ITERATIONS: Final = 1_000_000
"""Half a second of a processor: a broker that is not what it should be cannot ask for more."""

HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
"""The hash of each mechanism, as `hashlib` names it."""

_NO_BINDING: Final = "n,,"
_SERVER_FIRST: Final = re.compile(r"r=([\x21-\x2b\x2d-\x7e]+),s=([A-Za-z0-9+/=]+),i=([1-9][0-9]{0,9})(?:,.*)?")
_SERVER_FINAL: Final = re.compile(r"(?:v=([A-Za-z0-9+/=]+)|e=([^,]+))(?:,.*)?")


class SaslError(KproxyError):
    """An exchange that cannot go on; the text says why, and has no secret in it."""


class Challenge(NamedTuple):
    """The broker's first message: both nonces in one, the salt, and the iterations of the hash."""

    nonce: str
    salt: bytes
    iterations: int


def scram(mechanism: str, username: str, password: str, nonce: str) -> Exchange:
    """Authenticate by `mechanism`; `nonce` is random, printable and without commas.

    Names and passwords are sent as they are, in UTF-8: Kafka's broker does not prepare them (SASLprep) either.
    """
    name = HASHES[mechanism]
    first = f"n={_escaped(username)},r={nonce}"
    answer = _text((yield f"{_NO_BINDING}{first}".encode()))
    challenge = challenge_of(answer, nonce)
    binding = base64.b64encode(_NO_BINDING.encode()).decode()
    final = f"c={binding},r={challenge.nonce}"
    signed = f"{first},{answer},{final}".encode()
    salted = _salted(name, password, challenge.salt, challenge.iterations)
    proof = base64.b64encode(_proof(name, salted, signed)).decode()
    last = yield f"{final},p={proof}".encode()
    _verify(_text(last), _hmac(name, _hmac(name, salted, b"Server Key"), signed))


def challenge_of(answer: str, nonce: str) -> Challenge:
    """Return what the broker's first message asks for; raises SaslError for one that must not be answered."""
    found = _SERVER_FIRST.fullmatch(answer)
    if found is None:
        raise SaslError("the broker's first message is not SCRAM's")
    if not found[1].startswith(nonce) or found[1] == nonce:
        raise SaslError("the broker's nonce does not continue kproxy's: somebody repeats an earlier exchange")
    iterations = int(found[3])
    if not FEWEST_ITERATIONS <= iterations <= MOST_ITERATIONS:
        allowed = f"{FEWEST_ITERATIONS} to {MOST_ITERATIONS} are allowed"
        raise SaslError(f"the broker asks for {iterations} iterations, where {allowed}")
    return Challenge(found[1], _decoded(found[2]), iterations)


def _verify(answer: str, signature: bytes) -> None:
    """Raise SaslError unless the broker knows the password, too (RFC 5802, 3)."""
    found = _SERVER_FINAL.fullmatch(answer)
    if found is None:
        raise SaslError("the broker's last message is not SCRAM's")
    if found[2] is not None:
        raise SaslError("the broker refuses the proof")
    if not hmac.compare_digest(_decoded(found[1]), signature):
        raise SaslError("the broker's signature is wrong: it does not know the password, so it is not the broker meant")


# Each poll is on a fresh connection, and a broker keeps a user's salt and iterations.
@lru_cache(maxsize=16)
def _salted(name: str, password: str, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac(name, password.encode(), salt, iterations)


def _proof(name: str, salted: bytes, signed: bytes) -> bytes:
    key = _hmac(name, salted, b"Client Key")
    signature = _hmac(name, hashlib.new(name, key).digest(), signed)
    return bytes(one ^ other for one, other in zip(key, signature, strict=True))


def _hmac(name: str, key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, name)


def _escaped(username: str) -> str:
    return username.replace("=", "=3D").replace(",", "=2C")


def _text(answer: bytes) -> str:
    try:
        return answer.decode()
    except UnicodeDecodeError:
        raise SaslError("the broker's message is not UTF-8") from None


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise SaslError("the broker's message is not base64 where it must be") from None
