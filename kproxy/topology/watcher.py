"""Follows a cluster: polls its metadata, probes its nodes, and reports each change once.

`Upstream` runs one. It polls the active upstream cluster every `topology.interval`, a standby every
`failover.standby_interval`, and sooner when something looks wrong.

Each poll asks a bootstrap server on a fresh connection, so that a name which has moved to another cluster is noticed
while the old cluster lives. A change that would make every client bootstrap again is believed when a second poll
confirms it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import structlog
import trio

from kproxy.errors import UpstreamError
from kproxy.observe.troubles import Troubles
from kproxy.topology.confirmation import Confirmation
from kproxy.topology.probe import OnReachability, Prober, attempted, report
from kproxy.topology.reachability import Reachability, flipped, next_delay, observed
from kproxy.topology.snapshot import Change, Snapshot, another_cluster, diff, from_metadata
from kproxy.topology.standing import Look
from kproxy.upstream.client import UpstreamClient

log = structlog.get_logger("kproxy.topology")

FLOOR: Final = 1.0
"""The least number of seconds between the starts of two polls, however often `hint` and `learn` are called."""

_BLIND_SECONDS: Final = 5.0
"""The most time between two polls while kproxy itself is in no state to poll: that should be over soon."""

OnChange = Callable[[Snapshot, Change], None]
OnLook = Callable[[Look], None]

_Nodes = frozenset[tuple[int, str, int]]


class Watcher:
    """Only its own polls replace the snapshot; what passing responses show makes it poll sooner.

    The callbacks are called from the Trio thread, must not block, and cannot end the watcher by what they raise:
    `on_change(snapshot, change)` for nodes or a cluster that changed, and without a change for the poll after a passing
    response that showed others; `on_reachability(node_id, ok, error)` at a node's
    first probe and whenever `ok` changes, `on_look(look)` after each poll and the probes behind it.
    """

    def __init__(
        self,
        client: UpstreamClient,
        *,
        interval: float,
        on_change: OnChange,
        on_reachability: OnReachability,
        on_look: OnLook = lambda look: None,
        jitter: float = 0.2,
        floor: float = FLOOR,
        initial: Snapshot | None = None,
        poll_timeout: float = 10.0,
        probe_timeout: float = 5.0,
        rand: Callable[[], float] = random.random,
        troubles: Troubles | None = None,
    ) -> None:
        """Times are in seconds; `jitter` is a share of the interval; `poll_timeout` is for all brokers asked in a poll.

        `interval` may be changed at any time.

        `troubles` are the process'; by default they are the watcher's own.

        `initial` is what another watcher's `poll_once` returned: only what differs from it is reported.
        """
        self.snapshot = initial
        self.upstream: Reachability | None = None
        self.blind: str | None = None
        """Why the last poll says nothing about the upstream: a trouble of kproxy's own; None when it says something."""
        self._client = client
        self.interval = interval
        self._jitter = jitter
        self._floor = floor
        self._poll_timeout = poll_timeout
        self._rand = rand
        self._on_change = on_change
        self._on_look = on_look
        self._seen: Snapshot | None = None
        self._troubles = troubles or Troubles()
        self._prober = Prober(client, probe_timeout, on_reachability, self._troubles)
        self._failures = 0
        self._refused = False
        self._hinted = trio.Event()
        self._confirmation = Confirmation()
        self._odd: tuple[str | None, _Nodes] | None = None
        self._other: str | None = None
        """The id of another cluster that a passing response has shown since the last poll."""
        self._contradicted = False
        """Whether a passing response has shown another topology than the snapshot since the last poll."""
        if initial is not None:
            client.set_nodes(_addresses(initial))

    @property
    def reachable(self) -> bool | None:
        """Whether the last poll brought a usable answer, leaving out blind ones; None before the first has ended."""
        return None if self.upstream is None else self.upstream.ok

    @property
    def last_error(self) -> str | None:
        """Why the last poll failed; None when it did not."""
        return None if self.upstream is None else self.upstream.error

    @property
    def unconfirmed(self) -> str | None:
        """The id of another cluster that the last poll met and the next one must confirm; None when there is none."""
        return self._confirmation.cluster_id

    @property
    def in_doubt(self) -> bool:
        """Whether a passing response, or the last poll, has met another cluster, which no poll has confirmed."""
        return self._other is not None or self.unconfirmed is not None

    @property
    def nodes(self) -> Mapping[int, Reachability]:
        """The state of each node when last probed: whether it answered, since when, and why not."""
        return self._prober.nodes

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Poll until cancelled; nothing that a broker does or fails to do ends it."""
        task_status.started()
        while True:
            started = trio.current_time()
            await self._round()
            await self._pause(started)

    def hint(self) -> None:
        """Poll as soon as the floor allows: something looks wrong, such as a failed connect."""
        self._hinted.set()

    def learn(self, cluster_id: str | None, nodes: Iterable[tuple[int, str, int]]) -> None:
        """Take all nodes (id, host, port) of a passing response, and its cluster id if it has one.

        A poll follows soon when they are news. The response may come from a broker that lags behind, so it only causes
        a poll. The same view of the cluster causes one poll, until the snapshot changes.
        """
        seen = cluster_id, frozenset(nodes)
        if self._differs(*seen):
            self._contradicted = True
            if self.snapshot is not None and another_cluster(self.snapshot.cluster_id, cluster_id):
                self._other = cluster_id
            if seen != self._odd:
                self._odd = seen
                self.hint()

    async def poll_once(self) -> Snapshot:
        """Return the cluster as it is now, without a callback: for a look before a switch. Raises UpstreamError."""
        with trio.move_on_after(self._poll_timeout):
            return await self._ask()
        raise UpstreamError(f"no metadata within {self._poll_timeout:g} s; check the network and the brokers' load")

    async def _round(self) -> None:
        self._seen = None
        attempt = await attempted(self._poll, self._poll_timeout, self._troubles)
        if attempt.refused and not self._refused:
            log.warning("kproxy cannot authenticate", reason=attempt.error)
        self._refused = attempt.refused
        self.blind = attempt.error if attempt.own else None
        if not attempt.own:
            self._observe(attempt.error)
        if attempt.error is not None:
            self._confirmation.pending = None  # the two polls that agree must follow each other
        # Without descriptors a probe would find out nothing, and take those of clients.
        answered = not attempt.own and await self._probe()
        self._failures = 0 if attempt.error is None and answered else self._failures + 1
        silent = tuple(sorted(node_id for node_id, node in self.nodes.items() if not node.ok))
        look = Look(trio.current_time(), self._seen, attempt.error, attempt.own, silent)
        report(self._troubles, self._on_look, look)

    def _observe(self, error: str | None) -> None:
        polled = observed(self.upstream, error, trio.current_time())
        if flipped(self.upstream, polled):
            self._log(polled)
        self.upstream = polled

    async def _probe(self) -> bool:
        # While in doubt the next poll matters more: the nodes of a cluster that is gone would take their full timeout.
        if self.snapshot is None or self._confirmation.pending is not None:
            return False
        return await self._prober.probe(self.snapshot.nodes)

    async def _poll(self) -> None:
        self._seen = snapshot = await self._ask()
        change = diff(self.snapshot, snapshot)
        if self._confirmation.accepts(change.replacement, snapshot.cluster_id):
            self._adopt(snapshot, change)
        else:
            self._hold(snapshot)

    async def _ask(self) -> Snapshot:
        # A third for each broker: one or two that hang, or do not know the cluster yet, do not make it unreachable.
        return await self._client.described(from_metadata, fresh=True, limit=self._poll_timeout / 3)

    def _adopt(self, snapshot: Snapshot, change: Change) -> None:
        self.snapshot = snapshot
        contradicted, self._contradicted, self._other = self._contradicted, False, None
        if change:
            self._odd = None
            self._client.set_nodes(_addresses(snapshot))
            self._prober.forget(node.id for node in change.removed + change.moved)
        if change or contradicted:
            report(self._troubles, self._on_change, snapshot, change)

    def _hold(self, snapshot: Snapshot) -> None:
        self.hint()
        if self._confirmation.is_news and self.snapshot is not None:
            log.warning(
                "another cluster, or none of the known nodes: believed when the next poll shows it too",
                known=self.snapshot.cluster_id,
                answered=snapshot.cluster_id,
                nodes=list(snapshot.nodes),
            )

    async def _pause(self, started: float) -> None:
        # A broker that refuses kproxy is not asked sooner, whatever clients meet: somewhere, refusals lock a user out.
        # Another identity begins with a watcher of its own.
        soon = self.blind and not self._refused
        interval = min(self.interval, _BLIND_SECONDS) if soon else self.interval
        delay = next_delay(self._failures, self._rand(), interval=interval, jitter=self._jitter, floor=self._floor)
        hinted = trio.Event() if self._refused else self._hinted
        with trio.move_on_at(started + delay):
            await hinted.wait()
        self._hinted = trio.Event()
        await trio.sleep_until(started + self._floor)

    def _differs(self, cluster_id: str | None, nodes: _Nodes) -> bool:
        if self.snapshot is None:
            return bool(nodes)
        known = {(node.id, node.host, node.port) for node in self.snapshot.nodes.values()}
        return nodes != known or another_cluster(self.snapshot.cluster_id, cluster_id)

    @staticmethod
    def _log(upstream: Reachability) -> None:
        if upstream.ok:
            log.info("upstream reachable")
        else:
            log.warning("upstream unreachable", reason=upstream.error)


def _addresses(snapshot: Snapshot) -> dict[int, tuple[str, int]]:
    return {node.id: node.address for node in snapshot.nodes.values()}
