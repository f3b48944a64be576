"""One broker address: the connection to it, opened when it is needed, with backoff after failures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from kproxy.errors import UpstreamError
from kproxy.upstream.backoff import full_jitter
from kproxy.upstream.candidates import Address, Candidate
from kproxy.upstream.session import Session

Open = Callable[[Address, float], Awaitable[Session]]


class Broker:
    """Holds at most one session; tasks that ask while it is being opened share the one attempt and its outcome."""

    def __init__(self, address: Address, open_session: Open, rand: Callable[[], float], *, bootstrap: bool) -> None:
        self.address = address
        self.bootstrap = bootstrap
        self._open = open_session
        self._rand = rand
        self._session: Session | None = None
        self._opening = trio.Lock()
        self._failures = 0  # in a row
        self._failed_dials = 0  # ever
        self._error = ""
        self._retry_at = 0.0
        self._last_used = 0.0
        self._closed = ""

    def candidate(self) -> Candidate:
        """How the broker stands in the choice of any broker."""
        return Candidate(self.address, self.bootstrap, self._failures, self._retry_at, self._last_used)

    async def session(self, limit: float) -> Session:
        """The live session, or once the backoff is over a new one, opened within `limit` seconds. Raises UpstreamError.

        Tasks that waited for an attempt which failed fail with it, lest each of them dial the dead broker in turn.
        """
        self._last_used = trio.current_time()
        seen = self._failed_dials
        if (live := self._live()) is not None:
            return live
        async with self._opening:
            if (live := self._live()) is not None:
                return live
            if self._failed_dials != seen:
                raise UpstreamError(self._error)
            await trio.sleep_until(self._retry_at)
            return await self._dial(limit)

    def _live(self) -> Session | None:
        return self._session if self._session is not None and self._session.live else None

    async def _dial(self, limit: float) -> Session:
        try:
            self._session = await self._open(self.address, limit)
        except UpstreamError as error:
            self._failed_dials += 1
            self._failed(str(error))
            raise
        if self._closed:  # meanwhile
            self._session.close(self._closed)
        return self._session

    def succeeded(self) -> None:
        """The broker answered an ordinary request: the next failure is the first one again."""
        self._failures = 0
        self._retry_at = 0.0

    def broke(self, session: Session, error: str) -> None:
        """A session ended with a request unanswered: the next dial waits. A session counts once."""
        if session is self._session:
            self._session = None
            self._failed(error)

    def _failed(self, error: str) -> None:
        self._failures += 1
        self._error = error
        self._retry_at = trio.current_time() + full_jitter(self._failures, self._rand())

    def close(self, why: str) -> None:
        """Ends the session, if there is one or one is being opened; its requests raise UpstreamError with `why`."""
        self._closed = why
        if self._session is not None:
            self._session.close(why)
