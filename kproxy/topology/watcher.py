"""Follows a cluster: polls its metadata, probes its nodes, and tells of each change once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import structlog
import trio

from kproxy.topology.answers import from_metadata
from kproxy.topology.attempt import attempted, tell
from kproxy.topology.probe import OnReachability, Prober
from kproxy.topology.reachability import Reachability, flipped, observed
from kproxy.topology.schedule import next_delay
from kproxy.topology.snapshot import Change, Snapshot, diff
from kproxy.upstream.client import UpstreamClient

log = structlog.get_logger("kproxy.topology")

FLOOR: Final = 1.0
"""Seconds between the begins of two polls, at the least, however often `hint` and `learn` are called."""

OnChange = Callable[[Snapshot, Change], None]


class Watcher:
    """Only its own polls replace the snapshot; what others saw makes it look sooner.

    The callbacks are called from the Trio thread, must not block, and cannot end the watcher by what they raise:
    `on_change(snapshot, change)` for nodes or a cluster that changed, `on_reachability(node_id, ok, error)` at a node's
    first probe and whenever that flips.
    """

    def __init__(
        self,
        client: UpstreamClient,
        *,
        interval: float,
        on_change: OnChange,
        on_reachability: OnReachability,
        jitter: float = 0.2,
        floor: float = FLOOR,
        poll_timeout: float = 10.0,
        probe_timeout: float = 5.0,
        rand: Callable[[], float] = random.random,
    ) -> None:
        """Times in seconds; `jitter` is a share of the interval; `poll_timeout` is for all brokers asked in a poll."""
        self.snapshot: Snapshot | None = None
        self.upstream: Reachability | None = None
        self._client = client
        self._interval = interval
        self._jitter = jitter
        self._floor = floor
        self._poll_timeout = poll_timeout
        self._rand = rand
        self._on_change = on_change
        self._prober = Prober(client, probe_timeout, on_reachability)
        self._failures = 0
        self._hinted = trio.Event()
        self._doubt: frozenset[tuple[int, str, int]] = frozenset()

    @property
    def reachable(self) -> bool | None:
        """Whether the last poll brought a usable answer; None before the first poll has ended."""
        return None if self.upstream is None else self.upstream.ok

    @property
    def last_error(self) -> str | None:
        """Why the last poll failed; None when it did not."""
        return None if self.upstream is None else self.upstream.error

    @property
    def nodes(self) -> Mapping[int, Reachability]:
        """Whether each node answered when last probed, since when, and why not."""
        return self._prober.nodes

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Polls until cancelled; nothing that a broker does or fails to do ends it."""
        task_status.started()
        while True:
            started = trio.current_time()
            await self._round()
            await self._pause(started)

    def hint(self) -> None:
        """Something looks wrong, as a connect that failed: poll as soon as the floor allows."""
        self._hinted.set()

    def learn(self, nodes: Iterable[tuple[int, str, int]]) -> None:
        """All nodes (id, host, port) that a passing response named; a poll follows soon when they are news.

        The response may come from a broker that lags behind, so it is a reason to look, not a truth; one view of the
        nodes is reason once, until the snapshot changes.
        """
        seen = frozenset(nodes)
        if seen not in (self._known(), self._doubt):
            self._doubt = seen
            self.hint()

    async def _round(self) -> None:
        polled = observed(self.upstream, await attempted(self._poll, self._poll_timeout), trio.current_time())
        if flipped(self.upstream, polled):
            self._log(polled)
        self.upstream = polled
        answered = await self._prober.probe(self.snapshot.nodes) if self.snapshot is not None else False
        self._failures = 0 if polled.ok and answered else self._failures + 1

    async def _poll(self) -> None:
        # A third for each broker: one or two that hang do not make the cluster unreachable.
        self._adopt(from_metadata(await self._client.metadata(limit=self._poll_timeout / 3)))

    def _adopt(self, snapshot: Snapshot) -> None:
        change = diff(self.snapshot, snapshot)
        self.snapshot = snapshot
        if change:
            self._doubt = frozenset()
            self._client.set_nodes({node.id: node.address for node in snapshot.nodes.values()})
            self._prober.forget(node.id for node in change.removed + change.moved)
            tell(self._on_change, snapshot, change)

    async def _pause(self, started: float) -> None:
        delay = next_delay(
            self._failures, self._rand(), interval=self._interval, jitter=self._jitter, floor=self._floor
        )
        with trio.move_on_at(started + delay):
            await self._hinted.wait()
        self._hinted = trio.Event()
        await trio.sleep_until(started + self._floor)

    def _known(self) -> frozenset[tuple[int, str, int]]:
        nodes = () if self.snapshot is None else self.snapshot.nodes.values()
        return frozenset((node.id, node.host, node.port) for node in nodes)

    @staticmethod
    def _log(upstream: Reachability) -> None:
        if upstream.ok:
            log.info("upstream reachable")
        else:
            log.warning("upstream unreachable", reason=upstream.error)
