"""Probes every node, a bounded number at a time; a probe that hangs or fails does not affect the others.

The watcher probes the known nodes after each poll of the cluster, unless a change waits to be confirmed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, ParamSpec

import structlog
import trio

from kproxy.errors import KproxyError
from kproxy.topology.reachability import Reachability, flipped, observed
from kproxy.upstream.attempts import CAP
from kproxy.upstream.client import UpstreamClient
from kproxy.upstream.handshake import HELLO
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse

P = ParamSpec("P")

log = structlog.get_logger("kproxy.topology")


async def attempted(work: Callable[[], Awaitable[None]], limit: float) -> str | None:
    """Run `work` for at most `limit` seconds; return why it failed, or None."""
    try:
        with trio.fail_after(limit):
            await work()
    except trio.TooSlowError:
        return f"not done within {limit:g} s; check the network and the brokers' load"
    except KproxyError as error:
        return str(error)
    except Exception:
        log.exception("a fault in kproxy: please report it")
        return "a fault in kproxy; the log has the traceback"
    return None


def report(callback: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    """Call `callback`; log what it raises, which is a fault in kproxy."""
    try:
        callback(*args, **kwargs)
    except Exception:
        log.exception("a fault in kproxy: please report it")


AT_ONCE: Final = 32

OnReachability = Callable[[int, bool, str | None], None]


class Prober:
    """Probes nodes. One is reachable when it answers ApiVersions: an open port alone may be of a node that hangs."""

    def __init__(self, client: UpstreamClient, limit: float, on_reachability: OnReachability) -> None:
        self._client = client
        self._limit = limit
        self._on_reachability = on_reachability
        self._nodes: dict[int, Reachability] = {}

    @property
    def nodes(self) -> Mapping[int, Reachability]:
        """The state of each node that was probed, by id."""
        return MappingProxyType(self._nodes)

    def forget(self, node_ids: Iterable[int]) -> None:
        """Forget nodes that went or moved: their state does not hold for their next appearance."""
        for node_id in node_ids:
            self._nodes.pop(node_id, None)

    async def probe(self, node_ids: Iterable[int]) -> bool:
        """Probe all nodes; return whether every one answered."""
        places = trio.CapacityLimiter(AT_ONCE)
        asked = list(node_ids)
        async with trio.open_nursery() as nursery:
            for node_id in asked:
                nursery.start_soon(self._ask, node_id, places)
        return all(self._nodes[node_id].ok for node_id in asked)

    async def _ask(self, node_id: int, places: trio.CapacityLimiter) -> None:
        async def hello() -> None:
            await self._client.request(HELLO, ApiVersionsResponse, node=node_id, limit=self._limit / 2)

        async with places:
            # Half for the connect, half for the answer: each gives a better reason than this deadline does.
            error = await attempted(hello, self._limit + CAP)
        previous = self._nodes.get(node_id)
        current = self._nodes[node_id] = observed(previous, error, trio.current_time())
        if flipped(previous, current):
            report(self._on_reachability, node_id, current.ok, current.error)
