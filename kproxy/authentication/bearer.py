"""The server's side of OAUTHBEARER (RFC 7628): a token says who the client is, and for how long.

`Authenticator` begins an exchange for each client that asks for OAUTHBEARER.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproxy.authentication.exchange import AuthenticationRefusedError, Step
from kproxy.authentication.oauthbearer import TokenRefusedError

if TYPE_CHECKING:
    from kproxy.authentication.jwks import TokenVerifier


class Bearer:
    """One exchange: of one message or, where the client is refused, of two."""

    def __init__(self, verifier: TokenVerifier) -> None:
        self._verifier = verifier
        self._refused: AuthenticationRefusedError | None = None

    async def step(self, message: bytes) -> Step:
        """As `Exchange`. A refusal is told as JSON first; only when the client has acknowledged it, it fails."""
        if self._refused is not None:
            raise self._refused
        try:
            found = await self._verifier.verify(message)
        except TokenRefusedError as error:
            self._refused = AuthenticationRefusedError(str(error), error.answer.decode())
            return Step(error.answer, refusal=str(error))
        return Step(b"", f"User:{found.principal}", self._verifier.seconds_left(found))
