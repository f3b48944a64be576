"""Ends the process: clients may be sent to sibling replicas first, then every received request is answered.

`Process` makes a `Drain` at the first SIGTERM or SIGINT.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

import structlog
import trio

from kproxy.observe.reasons import Reason

if TYPE_CHECKING:
    from kproxy.cluster.cluster import Cluster
    from kproxy.relay.relay import Relay

SENT_AWAY: Final = 0.8
"""The share of the deadline over which clients are sent away; the rest is for what they have in flight by then."""

log = structlog.get_logger("kproxy")


class Drain:
    """A drain of at most `deadline` seconds from its creation; `cut_short` once a second signal has come."""

    def __init__(self, deadline: float, relay: Relay, signals: AsyncIterator[int]) -> None:
        self.cut_short = False
        self._deadline = deadline
        self._ends = trio.current_time() + deadline
        self._relay = relay
        self._signals = signals
        log.info("draining", connections=len(relay), deadline=deadline)

    async def send_away(self, clusters: Sequence[Cluster]) -> None:
        """Make each client bootstrap again at its own moment, and so reach a sibling; new ones are sent away too."""

        async def leave() -> None:
            async with trio.open_nursery() as nursery:
                for cluster in clusters:
                    nursery.start_soon(cluster.leave, self._deadline * SENT_AWAY)

        await self._unless_signalled(leave)

    async def answer(self) -> None:
        """Wait for the answers to all received requests, the deadline, or a second signal, whichever is first."""
        with trio.move_on_at(self._ends) as scope:
            await self._unless_signalled(self._relay.drain)
        if scope.cancelled_caught:
            log.warning("drain deadline", connections=len(self._relay), deadline=self._deadline)
            self._relay.close_all(Reason.DRAIN_DEADLINE)

    async def _unless_signalled(self, work: Callable[[], Awaitable[None]]) -> None:
        if self.cut_short:
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._at_second_signal, nursery.cancel_scope)
            await work()
            nursery.cancel_scope.cancel()

    async def _at_second_signal(self, scope: trio.CancelScope) -> None:
        await anext(self._signals)
        log.warning("stopped at once by a second signal", connections=len(self._relay))
        self.cut_short = True
        scope.cancel()
