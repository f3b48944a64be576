# This module is pure (no I/O, no clock).
"""The server's side of SCRAM (RFC 5802, RFC 7677): the client proves that it knows the password, and so does kproxy.

`Authenticator` begins an exchange for each client that asks for SCRAM.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from typing import Final

from kproxy.authentication.exchange import AuthenticationRefusedError, Step
from kproxy.authentication.users import Credential, Users
from kproxy.upstream.scram import HASHES

_NONCE: Final = r"[\x21-\x2b\x2d-\x7e]+"
_SASLNAME: Final = r"((?:[^,=\0]|=2C|=3D)+)"
_FIRST: Final = re.compile(rf"([ny],(?:a={_SASLNAME})?,)(n={_SASLNAME},r=({_NONCE})(,.*)?)", re.DOTALL)
_FINAL: Final = re.compile(rf"(c=([A-Za-z0-9+/=]+),r=({_NONCE})),p=([A-Za-z0-9+/=]+)")
_LONGEST_NONCE: Final = 256


class Scram:
    """One exchange, of two messages; `nonce` is random, printable and without commas."""

    def __init__(self, mechanism: str, users: Users, nonce: str) -> None:
        self._mechanism = mechanism
        self._users = users
        self._nonce = nonce
        self._challenge: _Challenge | None = None

    def step(self, message: bytes) -> Step:
        """As `Exchange`. An unknown user gets a challenge, too, and is refused where its proof is looked at."""
        try:
            text = message.decode()
        except UnicodeDecodeError:
            raise AuthenticationRefusedError("the message is not UTF-8") from None
        if self._challenge is None:
            self._challenge = _Challenge(self._mechanism, self._users, self._nonce, text)
            return Step(self._challenge.text.encode())
        return self._challenge.answered(text)


class _Challenge:
    """What the server answers to the client's first message, and expects of its second."""

    def __init__(self, mechanism: str, users: Users, nonce: str, first: str) -> None:
        match = _FIRST.fullmatch(first)
        if match is None or len(match[5]) > _LONGEST_NONCE:
            raise AuthenticationRefusedError("the first message is not SCRAM's, or asks for channel binding")
        if match[6] is not None:
            raise AuthenticationRefusedError("the first message has extensions, as of delegation tokens")
        self._name = _unescaped(match[4])
        if match[2] is not None and _unescaped(match[2]) != self._name:
            raise AuthenticationRefusedError("the client asks to be another user than it proves to be")
        self._hash = HASHES[mechanism]
        self._found, self._known = users.find(mechanism, self._name)
        self._nonce = match[5] + nonce
        self._binding = base64.b64encode(match[1].encode()).decode()
        self.text = self._first_of(self._found)
        self._signed = f"{match[3]},{self.text}"

    def _first_of(self, found: Credential) -> str:
        return f"r={self._nonce},s={base64.b64encode(found.salt).decode()},i={found.iterations}"

    def answered(self, final: str) -> Step:
        """Check the client's proof; return the server's."""
        match = _FINAL.fullmatch(final)
        if match is None:
            raise AuthenticationRefusedError("the last message is not SCRAM's")
        if match[2] != self._binding or not hmac.compare_digest(match[3], self._nonce):
            raise AuthenticationRefusedError("the last message is of another exchange: its nonce or binding differs")
        signed = f"{self._signed},{match[1]}".encode()
        if not self._proves(_decoded(match[4]), signed) or not self._known:
            raise AuthenticationRefusedError("the user is unknown or the password is wrong")
        signature = hmac.digest(self._found.server_key, signed, self._hash)
        return Step(b"v=" + base64.b64encode(signature), f"User:{self._name}")

    def _proves(self, proof: bytes, signed: bytes) -> bool:
        stored = self._found.stored_key
        signature = hmac.digest(stored, signed, self._hash)
        if len(proof) != len(signature):
            return False
        key = bytes(one ^ other for one, other in zip(proof, signature, strict=True))
        return hmac.compare_digest(hashlib.new(self._hash, key).digest(), stored)


def _unescaped(name: str) -> str:
    return name.replace("=2C", ",").replace("=3D", "=")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise AuthenticationRefusedError("the last message is not base64 where it must be") from None
