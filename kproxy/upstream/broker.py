"""One broker address: the connection to it, opened when it is needed or renewed, with backoff after failures.

`UpstreamClient` makes one for each address of its cluster, and gets the session for each request from it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from kproxy.errors import UpstreamError
from kproxy.upstream.attempts import Address, Candidate, full_jitter
from kproxy.upstream.names import doubt
from kproxy.upstream.session import Session

Open = Callable[[Address, float], Awaitable[Session]]
T = TypeVar("T")


class Broker:
    """Holds one session at most. Tasks that ask while it is being opened share the one attempt and its outcome.

    A session whose authentication ends soon is not used for further requests; a new one takes its place.

    While a session is renewed there is one more connection: the new one beside the old, or the old one whose last
    requests are still being answered.
    """

    def __init__(self, address: Address, open_session: Open, rand: Callable[[], float], *, bootstrap: bool) -> None:
        self.address = address
        self.bootstrap = bootstrap
        self._open = open_session
        self._rand = rand
        self._session: Session | None = None
        self._replaced: Session | None = None
        self._opening = trio.Lock()
        self._failures = 0  # in a row
        self._failed_dials = 0  # ever
        self._error = UpstreamError("")
        self._retry_at = 0.0
        self._last_used = 0.0
        self._renewed_at = 0.0
        self._closed = ""

    def candidate(self) -> Candidate:
        """Return the broker's state, for the choice of any broker."""
        return Candidate(
            self.address, self.bootstrap, self._failures, self._retry_at, self._last_used, self._renewed_at
        )

    async def session(self, limit: float) -> Session:
        """Return the live session, or after the backoff a new one, opened within `limit` seconds. Raises UpstreamError.

        Tasks that waited for a failed attempt fail with it, so that they do not all dial the dead broker in turn.
        """
        self._last_used = trio.current_time()
        seen = self._failed_dials
        if (live := self._live()) is not None:
            return live
        async with self._opening:
            if (live := self._live()) is not None:
                return live
            if self._failed_dials != seen:
                raise type(self._error)(str(self._error))  # a new object, since several tasks raise it
            self._session = await self._dial(limit)
            return self._session

    async def renew(self, limit: float, ask: Callable[[Session], Awaitable[T]]) -> T:
        """Open a new session within `limit` seconds, return what `ask` gets there, and replace the present session.

        The name is resolved anew for it. When `ask` or the dial fails, the present session stays. Raises UpstreamError.
        """
        self._last_used = self._renewed_at = trio.current_time()
        doubt(self.address[0])
        async with self._opening:
            self._end_replaced()
            session = await self._dial(limit)
            try:
                answer = await ask(session)
            except BaseException as error:
                session.close("it was to replace another connection, and did not answer")
                if isinstance(error, UpstreamError):
                    self._failed(error)
                raise
            self._replaced, self._session = self._session, session
            if self._replaced is not None:
                self._replaced.retire("a fresh connection has taken over")
            return answer

    def _end_replaced(self) -> None:
        if self._replaced is not None:
            self._replaced.close("a fresh connection took over long ago, and another one is due")
            self._replaced = None

    def _live(self) -> Session | None:
        if self._session is not None and self._session.overdue:
            # Its requests under way are still answered: the broker refuses only what comes after the end (KIP-368).
            self._session.retire("its authentication ends, and a fresh connection takes over")
            self._session = None
        return self._session if self._session is not None and self._session.live else None

    async def _dial(self, limit: float) -> Session:
        await trio.sleep_until(self._retry_at)
        try:
            session = await self._open(self.address, limit)
        except UpstreamError as error:
            self._failed_dials += 1
            self._failed(error)
            raise
        if self._closed:  # closed meanwhile
            session.close(self._closed)
        return session

    def succeeded(self) -> None:
        """Note an answer to an ordinary request: the next failure counts as the first one again."""
        self._failures = 0
        self._retry_at = 0.0

    def broke(self, session: Session, error: str) -> None:
        """Note that a session ended with a request unanswered: the next dial waits. A session counts once."""
        if session is self._session:
            self._session = None
            self._failed(UpstreamError(error))

    def _failed(self, error: UpstreamError) -> None:
        self._failures += 1
        self._error = error
        self._retry_at = trio.current_time() + full_jitter(self._failures, self._rand())

    def close(self, why: str) -> None:
        """End the session, if there is one or one is being opened; its requests raise UpstreamError with `why`."""
        self._closed = why
        self._end_replaced()
        if self._session is not None:
            self._session.close(why)
