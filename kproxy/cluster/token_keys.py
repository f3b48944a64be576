"""The keys of clients' tokens are read as long as a virtual cluster runs, by the settings that count at present.

`Cluster` has one `TokenKeys`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from kproxy.observe.faults import supervised
from kproxy.observe.troubles import Troubles, Where

if TYPE_CHECKING:
    from kproxy.authentication.authenticator import Authenticator
    from kproxy.authentication.jwks import TokenVerifier


class TokenKeys:
    """Reads them in a task, from `start` on."""

    def __init__(self, troubles: Troubles) -> None:
        self._troubles = troubles
        self._work: trio.Nursery | None = None
        self._verifier: TokenVerifier | None = None
        self._reading = trio.CancelScope()

    @property
    def lacking(self) -> bool:
        """Whether clients' tokens cannot be verified, because no keys were ever read."""
        return self._verifier is not None and not self._verifier.keys.keys

    def start(self, work: trio.Nursery) -> None:
        """Read the keys in a task of `work` from now on."""
        self._work = work
        self._begin()

    def follow(self, authenticator: Authenticator | None) -> None:
        """Read the keys that the authenticator needs; it has those that are known, where the issuer is the same."""
        before, now = self._verifier, None if authenticator is None else authenticator.tokens
        if before is not None and now is not None and before.settings == now.settings and not now.keys.keys:
            now.keys = before.keys
        self._verifier = now
        self._reading.cancel()
        self._begin()

    def _begin(self) -> None:
        if self._work is not None and self._verifier is not None:
            self._reading = trio.CancelScope()
            self._work.start_soon(self._read, self._verifier, self._reading)

    async def _read(self, verifier: TokenVerifier, reading: trio.CancelScope) -> None:
        with reading:
            await supervised(self._troubles, Where.TOKEN_KEYS, verifier.run)
