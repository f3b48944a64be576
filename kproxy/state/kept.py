"""What a restart must know: written when it changes, and again until the store has it.

Each virtual cluster has one `Kept`, for the active upstream, the failover history and the order that it follows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.state.store import StateError

if TYPE_CHECKING:
    from kproxy.state.store import Store

_AGAIN: Final = 5.0
"""Seconds until what the store did not take is tried again; sooner when another value comes."""
_PATIENCE: Final = 10.0
"""Seconds after which a store that does not answer is a problem."""
_NO_ANSWER: Final = "the disk does not answer"

log = structlog.get_logger("kproxy.state")


@dataclass(slots=True, eq=False)
class _Value:
    value: bytes
    since: float
    """On Trio's clock."""
    tried: trio.Event = field(default_factory=trio.Event)
    error: StateError | None = None
    """Why the store did not take it when it was tried last."""


class Kept:
    """Holds each value until the store has it; of several for one key the newest counts."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[tuple[str, str], _Value] = {}
        self._news = trio.Event()
        self._error: StateError | None = None
        """Why not all of them could be written at the last attempt."""

    def put(self, table: str, key: str, value: bytes) -> trio.Event:
        """Have a value kept; return what is set once the store has taken it, or has failed to for the first time."""
        if (before := self._waiting.get((table, key))) is not None:
            before.tried.set()
        mine = self._waiting[table, key] = _Value(value, trio.current_time())
        self._news.set()
        return mine.tried

    def problem(self) -> str | None:
        """Return why a restart would begin with what was before; None while all is kept."""
        if self._error is not None:
            return str(self._error)
        oldest = min((one.since for one in self._waiting.values()), default=math.inf)
        return _NO_ANSWER if trio.current_time() - oldest > _PATIENCE else None

    async def settle(self, seconds: float) -> str | None:
        """Wait until the store has taken what waits now, or has failed to, at most so long.

        Returns why a restart at this moment would begin with what was before; None if all is kept.
        """
        waiting = tuple(self._waiting.values())
        with trio.move_on_after(seconds) as patience:
            for one in waiting:
                await one.tried.wait()
        if patience.cancelled_caught:
            return _NO_ANSWER
        return next((str(one.error) for one in waiting if one.error is not None), None)

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            with trio.move_on_after(_AGAIN if self._waiting else math.inf):
                await self._news.wait()
            self._news = trio.Event()
            await self._write()

    async def _write(self) -> None:
        """Write all that waits, at once: the store takes it in one commit."""
        errors: list[StateError] = []
        async with trio.open_nursery() as nursery:
            for place, one in self._waiting.items():
                nursery.start_soon(self._write_one, place, one, errors)
        self._tell(errors)

    async def _write_one(self, place: tuple[str, str], one: _Value, errors: list[StateError]) -> None:
        try:
            await self._store.put(*place, one.value)
        except StateError as error:
            one.error = error
            errors.append(error)
        else:
            one.error = None
            if self._waiting[place] is one:
                del self._waiting[place]
        one.tried.set()

    def _tell(self, errors: list[StateError]) -> None:
        before, error = self._error, errors[0] if errors else None
        self._error = error
        if error is not None and before is None:
            tables = ", ".join(sorted({table for table, _ in self._waiting}))
            log.error("not kept: a restart would not know of it", tables=tables, reason=str(error))
        elif error is None and before is not None:
            log.info("kept after all")
