# This module is pure (no I/O, no clock).
"""One client's SASL exchange as the server sees it, whatever its mechanism.

`Login` feeds an exchange each message of the client. Mechanisms: `plain`, `scram`, `bearer`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from math import inf
from typing import Protocol


class AuthenticationRefusedError(Exception):
    """A client is refused. The text says why, for the log, without a secret; `told` is what the client may know."""

    def __init__(self, reason: str, told: str = "") -> None:
        super().__init__(reason)
        self.told = told
        """"" for what every client is told."""


class AuthenticationUnavailableError(Exception):
    """Nobody can be authenticated at present, as long as an issuer's keys are not known. The text says why."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the client is sent, and its principal ("User:alice") once it is authenticated, None before."""

    answer: bytes
    principal: str | None = None
    seconds: float = inf
    """For how long that counts at most, as a token ends."""
    refusal: str = ""
    """Why the answer is a refusal, for the log; the client should acknowledge it, and is then refused for good."""


class Exchange(Protocol):
    """An exchange that has begun."""

    async def step(self, message: bytes) -> Step:
        """Take the client's next message. May take as long as a password's hash.

        Raises AuthenticationRefusedError and AuthenticationUnavailableError.
        """


InTurn = Callable[[Callable[[], Step]], Awaitable[Step]]
"""Runs what takes thousands of hashes in a thread, when it is the turn of the client's address."""
