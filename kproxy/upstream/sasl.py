# This module is pure (no I/O, no clock).
"""What kproxy sends to authenticate itself by PLAIN (RFC 4616), SCRAM (RFC 5802) and OAUTHBEARER (RFC 7628).

`authentication.authenticate` drives an exchange on each new connection of kproxy's own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Final

from kproxy.upstream.client_credentials import TOKEN
from kproxy.upstream.scram import HASHES, Exchange, SaslError, scram

PLAIN: Final = "PLAIN"
OAUTHBEARER: Final = "OAUTHBEARER"

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_STATUS: Final = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]{1,100}")  # RFC 6749, 5.2
_ACKNOWLEDGED: Final = b"\x01"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who kproxy is to a broker. `secret` is the password, or the token of OAUTHBEARER, which names the user itself."""

    mechanism: str
    username: str
    secret: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.mechanism} as {self.username!r}" if self.username else self.mechanism


def exchange(credentials: Credentials, nonce: str) -> Exchange:
    """Return the exchange of one connection; `nonce` is random, printable and without commas. Raises SaslError."""
    if credentials.mechanism == OAUTHBEARER:
        return _bearer(_checked_token(credentials.secret))
    for what, value in (("user's name", credentials.username), ("password", credentials.secret)):
        if not value or _CONTROL.search(value):
            raise SaslError(f"the {what} is empty or has a control character, as a line end, in it")
    if credentials.mechanism in HASHES:
        return scram(credentials.mechanism, credentials.username, credentials.secret, nonce)
    return _plain(credentials.username, credentials.secret)


def _plain(username: str, password: str) -> Exchange:
    yield f"\0{username}\0{password}".encode()


def _bearer(token: str) -> Exchange:
    answer = yield f"n,,\x01auth=Bearer {token}\x01\x01".encode()
    if answer:
        # The broker waits for this before it ends the exchange with its error (RFC 7628, 3.2.3).
        yield _ACKNOWLEDGED
        raise SaslError(f"the broker refuses the token: {_status(answer)}")


def _checked_token(token: str) -> str:
    if not TOKEN.fullmatch(token):
        raise SaslError("the file holds no bearer token: one word of letters, digits and -._~+/ is expected")
    return token


def _status(answer: bytes) -> str:
    """Return the status of the broker's JSON: nothing else of it, since it may repeat the token."""
    try:
        status = json.loads(answer)["status"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return "no status"
    return status if isinstance(status, str) and _STATUS.fullmatch(status) else "no status"
