"""Has members leave their groups at a cluster that clients were sent away from, by kproxy's own client.

`kproxy.cluster.departures` calls it after a switch, once the connections of these members have ended.

A client that is sent away does not leave its group: its member stays at the old coordinator until its session times
out. A client that comes back before that would wait for it in the next rebalance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

import trio

from kproxy.errors import RefusedError, RetriableError, UpstreamError
from kproxy.rebootstrap.actions import Outcome
from kproxy.upstream.coordinator import at_coordinator
from kproxy.upstream.handshake import NotOfferedError
from kproxy.upstream.responses import check, refused
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.leave_group_request import LeaveGroupRequest, MemberIdentity
from kproxy.wire.generated.leave_group_response import LeaveGroupResponse

if TYPE_CHECKING:
    from kproxy.upstream.client import UpstreamClient

_AT_A_TIME: Final = 8
"""Groups whose coordinators are asked at the same time."""
_BATCH: Final = 500
"""Members in one request; a group of more rebalances once for each."""
_REASON: Final = "kproxy has sent the client to another cluster"


# UNKNOWN_MEMBER_ID by its code: who is gone already need not leave, whatever the class of the error asks.
_OUTCOMES: Final[Mapping[int, Outcome]] = MappingProxyType(
    {ErrorCode.NONE: Outcome.LEFT, ErrorCode.UNKNOWN_MEMBER_ID: Outcome.GONE}
)


class _LeaveTogether(LeaveGroupRequest):
    """Of several members: earlier versions take one."""

    min_version: ClassVar[int] = 3


class _LeaveAlone(LeaveGroupRequest):
    """Of one member, to brokers before Kafka 2.4."""

    max_version: ClassVar[int] = 2


class Leaving:
    """Members on their way out. `outcomes` counts those that are settled; `why` is the first reason to stay."""

    def __init__(self, members: Mapping[str, Sequence[str]]) -> None:
        """The members' ids are by group."""
        self._members = members
        self.outcomes: Counter[Outcome] = Counter()
        self.why = ""
        self._waits = ""

    def settle(self, outcome: Outcome, count: int, why: str = "") -> None:
        """Count members whose outcome is known."""
        self.outcomes[outcome] += count
        self.why = self.why or why

    def give_up(self, why: str) -> None:
        """Count all members that are not settled as unreachable."""
        left = sum(map(len, self._members.values())) - self.outcomes.total()
        if left:
            self.settle(Outcome.UNREACHABLE, left, self._waits or why)

    async def run(self, client: UpstreamClient) -> None:
        """Have all of them leave; raises UpstreamError where no broker answers."""
        found = await client.metadata()
        client.set_nodes({broker.node_id: (broker.host, broker.port) for broker in found.brokers})
        batches = self._batches()
        async with trio.open_nursery() as nursery:
            for _ in range(_AT_A_TIME):
                nursery.start_soon(self._work, client, batches)

    def _batches(self) -> Iterator[tuple[str, Sequence[str]]]:
        for group_id, members in self._members.items():
            for begin in range(0, len(members), _BATCH):
                yield group_id, members[begin : begin + _BATCH]

    async def _work(self, client: UpstreamClient, batches: Iterator[tuple[str, Sequence[str]]]) -> None:
        for group_id, members in batches:
            try:
                await self._leave(client, group_id, members)
            except RefusedError as error:
                self.settle(Outcome.REFUSED, len(members), str(error))
            except UpstreamError as error:
                self.settle(Outcome.UNREACHABLE, len(members), str(error))

    async def _leave(self, client: UpstreamClient, group_id: str, members: Sequence[str]) -> None:
        """Ask the coordinator, and again as long as its errors are retriable: the caller sets the limit."""
        codes = await at_coordinator(client, group_id, noted=self._wait).ask(partial(_left, client, group_id, members))
        for code in codes:
            outcome = _OUTCOMES.get(code, Outcome.REFUSED)
            self.settle(outcome, 1, _why(group_id, code) if outcome is Outcome.REFUSED else "")

    def _wait(self, error: RefusedError) -> None:
        self._waits = str(error)


def _why(group_id: str, code: int) -> str:
    return str(refused("LeaveGroup", code, asked=f"group {group_id}"))


async def _left(client: UpstreamClient, group_id: str, members: Sequence[str], node: int) -> Sequence[int]:
    """Return each member's error code; raises UpstreamError."""
    try:
        leaving = [MemberIdentity(member_id, reason=_REASON) for member_id in members]
        answer = await client.request(_LeaveTogether(group_id=group_id, members=leaving), LeaveGroupResponse, node=node)
    except NotOfferedError:
        return [await _left_alone(client, group_id, member_id, node) for member_id in members]
    check("LeaveGroup", answer.error_code, asked=f"group {group_id}")
    codes = {one.member_id: one.error_code for one in answer.members}
    return [codes.get(member_id, ErrorCode.UNKNOWN_SERVER_ERROR) for member_id in members]


async def _left_alone(client: UpstreamClient, group_id: str, member_id: str, node: int) -> int:
    request = _LeaveAlone(group_id=group_id, member_id=member_id)
    code = (await client.request(request, LeaveGroupResponse, node=node)).error_code
    error = refused("LeaveGroup", code, asked=f"group {group_id}")
    if isinstance(error, RetriableError):
        raise error
    return code
