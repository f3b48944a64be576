"""Obeys the classes of brokers' errors (KIP-1050): asks again, looks up again and then asks again, or gives up.

`kproxy.upstream.coordinator`, the control topic and the rehearsal of a failover ask their questions through it.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

import trio

from kproxy.errors import RefreshRetriableError, RefusedError, RetriableError

PAUSE: Final = 0.2
"""Seconds before a question is asked again."""
Found = TypeVar("Found")
Answered = TypeVar("Answered")


class Retries(Generic[Found]):
    """Questions that need something looked up first: a leader, a coordinator. It is kept between questions."""

    def __init__(
        self,
        look_up: Callable[[], Awaitable[Found]],
        *,
        seconds: float = math.inf,
        noted: Callable[[RefusedError], None] = lambda _: None,
    ) -> None:
        """Errors are obeyed for `seconds` of each question, which then raises them; `noted` gets each one before."""
        self._look_up = look_up
        self._seconds = seconds
        self._noted = noted
        self._found: Found | None = None

    async def ask(self, question: Callable[[Found], Awaitable[Answered]]) -> Answered:
        """Return what the question returns of what was looked up.

        After a RetriableError the same is asked again, after a RefreshRetriableError with what is looked up anew. Any
        other UpstreamError is raised at once: what was looked up is then forgotten.
        """
        give_up = trio.current_time() + self._seconds
        while True:
            try:
                if self._found is None:
                    self._found = await self._look_up()
                return await question(self._found)
            except RetriableError as error:
                if isinstance(error, RefreshRetriableError):
                    self._found = None
                if trio.current_time() + PAUSE > give_up:
                    raise
                self._noted(error)
            except BaseException:
                self._found = None
                raise
            await trio.sleep(PAUSE)
