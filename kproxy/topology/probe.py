"""Probes every node, a bounded number at a time; a probe that hangs or fails does not affect the others.

The watcher probes the known nodes after each poll of the cluster, unless a change waits to be confirmed.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, ParamSpec

import trio

from kproxy.errors import IdentityError, KproxyError, ShortageError
from kproxy.observe.faults import boundary, note
from kproxy.observe.troubles import Troubles, Where
from kproxy.topology.reachability import Reachability, flipped, observed
from kproxy.upstream.attempts import CAP
from kproxy.upstream.client import UpstreamClient
from kproxy.upstream.handshake import HELLO
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse

P = ParamSpec("P")


class Attempt(NamedTuple):
    """How a poll or a probe went: `error` says why it failed, None when it did not.

    `own`: the failure is kproxy's own, a fault or a shortage, and says nothing about the broker. `refused`: it is that
    kproxy cannot authenticate.
    """

    error: str | None
    own: bool = False
    refused: bool = False


async def attempted(work: Callable[[], Awaitable[None]], limit: float, troubles: Troubles) -> Attempt:
    """Run `work` for at most `limit` seconds; return how it went."""
    try:
        with trio.fail_after(limit):
            await work()
    except trio.TooSlowError:
        # What was not done in time may have waited for what the system refused.
        short = troubles.shortage(time.monotonic())
        return Attempt(short or f"not done within {limit:g} s; check the network and the brokers' load", bool(short))
    except ShortageError as error:
        return Attempt(str(error), own=True)
    except IdentityError as error:
        return Attempt(str(error), own=True, refused=True)
    except KproxyError as error:
        return Attempt(str(error))
    except Exception as error:
        note(troubles, Where.WATCHER, error)
        return Attempt("a fault in kproxy; the log has the traceback", own=True)
    return Attempt(None)


def report(troubles: Troubles, callback: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    """Call `callback`; note what it raises, which is a fault in kproxy."""
    with boundary(troubles, Where.WATCHER):
        callback(*args, **kwargs)


AT_ONCE: Final = 32

OnReachability = Callable[[int, bool, str | None], None]


class Prober:
    """Probes nodes. One is reachable when it answers ApiVersions: an open port alone may be of a node that hangs."""

    def __init__(
        self, client: UpstreamClient, limit: float, on_reachability: OnReachability, troubles: Troubles | None = None
    ) -> None:
        self._troubles = troubles or Troubles()
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
        """Probe all nodes; return whether every one is known to answer."""
        places = trio.CapacityLimiter(AT_ONCE)
        asked = list(node_ids)
        async with trio.open_nursery() as nursery:
            for node_id in asked:
                nursery.start_soon(self._ask, node_id, places)
        return all(node_id in self._nodes and self._nodes[node_id].ok for node_id in asked)

    async def _ask(self, node_id: int, places: trio.CapacityLimiter) -> None:
        async def hello() -> None:
            await self._client.request(HELLO, ApiVersionsResponse, node=node_id, limit=self._limit / 2)

        async with places:
            # Half for the connect, half for the answer: each gives a better reason than this deadline does.
            attempt = await attempted(hello, self._limit + CAP, self._troubles)
        if attempt.own and not attempt.refused:
            return
        previous = self._nodes.get(node_id)
        current = self._nodes[node_id] = observed(previous, attempt.error, trio.current_time())
        if flipped(previous, current):
            report(self._troubles, self._on_reachability, node_id, current.ok, current.error)
