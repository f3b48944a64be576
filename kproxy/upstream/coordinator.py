"""Finds a group's coordinator, for kproxy's own questions about groups.

`kproxy groups lag`, the rehearsal of a failover and members that leave their groups go through it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from kproxy.errors import RefusedError
from kproxy.upstream.responses import check
from kproxy.upstream.retries import Retries
from kproxy.wire.generated.find_coordinator_request import FindCoordinatorRequest
from kproxy.wire.generated.find_coordinator_response import FindCoordinatorResponse

if TYPE_CHECKING:
    from kproxy.upstream.client import UpstreamClient


class _FindCoordinator(FindCoordinatorRequest):
    """Of one group: later versions take lists."""

    max_version: ClassVar[int] = 3


async def coordinator(client: UpstreamClient, group_id: str) -> int:
    """Return the id of the node that coordinates a group; `client` knows its address from then on.

    Raises UpstreamError.
    """
    found = await client.request(_FindCoordinator(key=group_id), FindCoordinatorResponse)
    check("FindCoordinator", found.error_code, asked=f"group {group_id}")
    client.update(found.node_id, found.host, found.port)
    return found.node_id


def at_coordinator(
    client: UpstreamClient,
    group_id: str,
    *,
    seconds: float = math.inf,
    noted: Callable[[RefusedError], None] = lambda _: None,
) -> Retries[int]:
    """Return what asks the coordinator of a group, and finds it again when it must; arguments as of `Retries`."""
    return Retries(partial(coordinator, client, group_id), seconds=seconds, noted=noted)
