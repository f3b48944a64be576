# This module is pure (no I/O, no clock).
"""The server's side of PLAIN (RFC 4616): the password is checked with the user's SCRAM key.

`Authenticator` begins an exchange for each client that asks for PLAIN.
"""

from __future__ import annotations

from typing import Final

from kproxy.authentication.exchange import AuthenticationRefusedError, Step
from kproxy.authentication.users import Users

_PARTS: Final = 3


class Plain:
    """One exchange, of a single message."""

    def __init__(self, users: Users) -> None:
        self._users = users

    def recall(self, message: bytes) -> Step | None:
        """Return what `step` would for a password that it has found right before; None for any other. Takes no time."""
        authorization_id, name, password = _parts(message)
        return _proven(authorization_id, name) if self._users.recall(name, password) else None

    def step(self, message: bytes) -> Step:
        """As `Exchange`. An unknown user takes as many hashes as a known one."""
        if step := self.recall(message):  # right since another client, for which this one has waited
            return step
        authorization_id, name, password = _parts(message)
        found, known = self._users.find_any(name)
        if not found.matches(password) or not known:
            raise AuthenticationRefusedError("the user is unknown or the password is wrong")
        self._users.remember(name, password)
        return _proven(authorization_id, name)


def _proven(authorization_id: str, name: str) -> Step:
    if authorization_id not in ("", name):
        raise AuthenticationRefusedError("the client asks to be another user than it proves to be")
    return Step(b"", f"User:{name}")


def _parts(message: bytes) -> tuple[str, str, str]:
    try:
        parts = message.decode().split("\0")
    except UnicodeDecodeError:
        parts = []
    if len(parts) != _PARTS or not all(parts[1:]):
        raise AuthenticationRefusedError("the message is not PLAIN's")
    return parts[0], parts[1], parts[2]
