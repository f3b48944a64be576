"""An administrator's connection to a kproxy that hosts groups, without sockets, and the broker behind it, on paper."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from kproxy.coordinator.coordinator import Coordinator
from kproxy.coordinator.group import Group
from kproxy.coordinator.journal import Forgetful
from kproxy.coordinator.messages import Join, Joined, Leaving, Sync
from kproxy.coordinator.policies import policies
from kproxy.coordinator.rebalance import Move, Rebalance
from kproxy.coordinator.settings import GroupSettings
from kproxy.coordinator.timers import Timers
from kproxy.observe.faults import boundary
from kproxy.observe.troubles import Troubles, Where
from kproxy.protocol.outcomes import Incremental
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kproxy.wire.generated.delete_groups_request import DeleteGroupsRequest
from kproxy.wire.generated.delete_groups_response import DeletableGroupResult, DeleteGroupsResponse
from kproxy.wire.generated.describe_groups_request import DescribeGroupsRequest
from kproxy.wire.generated.describe_groups_response import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsResponse,
)
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.list_groups_request import ListGroupsRequest
from kproxy.wire.generated.list_groups_response import ListedGroup, ListGroupsResponse
from kproxy.wire.generated.offset_delete_request import OffsetDeleteRequest
from kproxy.wire.generated.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from kproxy.wire.header import (
    RequestHeader,
    decode_request_header,
    decode_response_header,
    encode_request_header,
    encode_response_header,
)
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame as framed
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay

MESSAGES: dict[int, tuple[Any, Any]] = {
    ApiKey.DESCRIBE_GROUPS: (DescribeGroupsRequest, DescribeGroupsResponse),
    ApiKey.LIST_GROUPS: (ListGroupsRequest, ListGroupsResponse),
    ApiKey.DELETE_GROUPS: (DeleteGroupsRequest, DeleteGroupsResponse),
    ApiKey.OFFSET_DELETE: (OffsetDeleteRequest, OffsetDeleteResponse),
}
ALL = 0b1_0110_1000
DELETE = 1 << 6
NOT_ASKED = -(2**31)
CORRELATION_ID = 77


def subscription(*topics: str) -> bytes:
    """A consumer's metadata, in its newest version."""
    said = ConsumerProtocolSubscription(topics=list(topics), generation_id=1, rack_id="r")
    return b"\0\3" + said.encode(3)


class Groups:
    """Hosted groups, as `Hosting` says, and their time; they are those whose ids begin with "mine"."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.timers = Timers()
        self._ids = iter(range(1, 1 << 30))
        self.coordinator = Coordinator(
            Rebalance(self.timers, Forgetful(), self, max),
            lambda group_id: GroupSettings(initial_rebalance_delay=0.0),
            lambda: str(next(self._ids)),
        )

    def hosts(self, group_id: str) -> bool:
        return group_id.startswith("mine")

    @contextmanager
    def acting(self) -> Iterator[float]:
        yield self.now

    def clash(self, group_id: str, refused: str) -> None:
        """As `Hosting`."""

    def contained(self) -> AbstractContextManager[None, bool]:
        return boundary(Troubles(), Where.GROUPS)

    def moved(self, group: Group, move: Move) -> None:
        """As `Watch`."""

    def stored(self, seconds: float) -> None:
        """As `Watch`."""

    def late(self) -> None:
        """As `Watch`."""

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.timers.fire(self.now)

    def joining(self, group_id: str, *members: str, protocol_type: str = "consumer", metadata: bytes = b"m") -> None:
        """Have members join, who wait for their leader's assignments then. An id with "=" names an instance too."""
        joined: list[Joined] = []
        for member in members:
            client, _, instance = member.partition("=")
            said = Join(
                group_id, "", instance or None, client, f"/{client}.host", 30, 60, protocol_type,
                (("range", metadata), ("other", b"o")), needs_member_id=False,
            )  # fmt: skip
            self.coordinator.join(said, joined.append, self.now)
        self.pass_time(0)
        assert [one.error for one in joined] == [0] * len(members)

    def stable(self, group_id: str, *members: str, protocol_type: str = "consumer", metadata: bytes = b"m") -> None:
        """Have members join, each with its own id as assignment."""
        self.joining(group_id, *members, protocol_type=protocol_type, metadata=metadata)
        group = self.coordinator.groups[group_id]
        assignments = {member_id: f"of {member_id}".encode() for member_id in group.members}
        leader = group.members[group.leader or ""]
        said = Sync(group_id, leader.id, leader.instance_id, group.generation, assignments=assignments)
        self.coordinator.sync(said, lambda synced: None, self.now)

    def empty(self, group_id: str) -> None:
        """Have a group whose only member has left."""
        self.stable(group_id, "gone")
        (member_id,) = self.coordinator.groups[group_id].members
        self.coordinator.leave(group_id, [Leaving(member_id, None)], self.now)
        self.pass_time(0)


@dataclass
class Broker:
    """What a broker says of groups by the name of each; it knows nothing of any other, and is its coordinator.

    `groups` are those that it lists, with their states; it has no members of "mine". `errors` are of groups that it
    neither describes nor deletes, nor changes the offsets of. `unreadable` numbers the responses that make no sense.
    `top` is the error of every list, `late_error` that of a deletion of offsets which names some.
    """

    groups: dict[str, str] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    operations: int = ALL
    top: int = 0
    late_error: int = 0
    unreadable: frozenset[int] = frozenset()
    asked: list[tuple[int, int, Any]] = field(default_factory=list)

    def answer(self, frame: bytes) -> bytes:
        """Take a whole request, return the whole response."""
        header, body = decode_request_header(frame, 4, len(frame))
        kind, _ = MESSAGES[header.api_key]
        request = kind.decode(frame[body:], header.api_version)
        self.asked.append((header.api_key, header.api_version, request))
        response: WireMessage = getattr(self, f"_{kind.__name__}")(request, header.api_version)
        head = encode_response_header(header.correlation_id, header.api_key, header.api_version)
        if len(self.asked) - 1 in self.unreadable:
            return framed(head, b"\xff")
        return framed(head, response.encode(header.api_version))

    def _DescribeGroupsRequest(self, request: DescribeGroupsRequest, version: int) -> WireMessage:
        described = [self._described(one, version, request.include_authorized_operations) for one in request.groups]
        return DescribeGroupsResponse(throttle_time_ms=5 if version else 0, groups=described)

    def _described(self, name: str, version: int, operations: bool) -> DescribedGroup:
        error = self.errors.get(name, 0)
        if not error and name not in self.groups and version >= 6:
            error = ErrorCode.GROUP_ID_NOT_FOUND
        if error:
            message = f"no {name}" if version >= 6 else None
            state = "Dead" if error == ErrorCode.GROUP_ID_NOT_FOUND else ""
            return DescribedGroup(error, message, name, state)
        one = DescribedGroup(0, None, name, self.groups.get(name, "Dead"))
        if operations:
            one.authorized_operations = self.operations
        if one.group_state == "Stable":
            one.protocol_type, one.protocol_data = "consumer", "range"
            one.members = [DescribedGroupMember(member_id=f"of {name}", client_host="/h", member_metadata=b"b")]
        return one

    def _ListGroupsRequest(self, request: ListGroupsRequest, version: int) -> WireMessage:
        if self.top:
            return ListGroupsResponse(error_code=self.top)
        states = {name.lower() for name in request.states_filter}
        listed = [
            ListedGroup(name, "consumer", state, "classic")
            for name, state in self.groups.items()
            if (not states or state.lower() in states)
            and (not request.types_filter or "classic" in request.types_filter)
        ]
        return ListGroupsResponse(throttle_time_ms=5 if version else 0, groups=listed)

    def _DeleteGroupsRequest(self, request: DeleteGroupsRequest, version: int) -> WireMessage:
        del version
        results = [DeletableGroupResult(name, self._deleted(name)) for name in dict.fromkeys(request.groups_names)]
        return DeleteGroupsResponse(throttle_time_ms=5, results=results)

    def _deleted(self, name: str) -> int:
        error = self.errors.get(name) or self._known(name)
        if not error:
            del self.groups[name]
        return error

    def _known(self, name: str) -> int:
        if name not in self.groups:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return ErrorCode.NON_EMPTY_GROUP if self.groups[name] == "Stable" else ErrorCode.NONE

    def _OffsetDeleteRequest(self, request: OffsetDeleteRequest, version: int) -> WireMessage:
        del version
        error = self.errors.get(request.group_id, 0)
        if not error and request.topics:  # without topics its coordinator is not asked
            error = self.late_error if request.group_id in self.groups else ErrorCode.GROUP_ID_NOT_FOUND
        if error:
            return OffsetDeleteResponse(error_code=error)
        deleted = [
            OffsetDeleteResponseTopic(
                one.name, [OffsetDeleteResponsePartition(each.partition_index) for each in one.partitions]
            )
            for one in request.topics
        ]
        return OffsetDeleteResponse(throttle_time_ms=5, topics=deleted)


class Admin(Relay):
    """An administrator at a kproxy, with a broker that answers whatever it is asked, once `run` is called."""

    def __init__(self, broker: Broker | None = None) -> None:
        self.broker_on_paper = broker or Broker()
        self.hosting = Groups()
        self.steps: list[Incremental] = []
        self.steps_taken = 0
        super().__init__(others=policies(self.hosting), earlier=1)

    @property
    def asked(self) -> list[tuple[int, int, Any]]:
        """What the broker was asked: api key, version, request."""
        return self.broker_on_paper.asked

    def work(self, stepwise: Incremental) -> None:
        self.steps.append(stepwise)

    def ask(self, request: WireMessage, version: int, *, cut: int = 1 << 20) -> Any:
        """Return the response to a request; the broker's responses arrive in pieces of `cut` bytes."""
        return self.ask_frame(encoded(request, version), cut=cut)

    def ask_frame(self, frame: bytes, *, cut: int = 1 << 20) -> Any:
        """The same for a request's whole frame."""
        header, _ = decode_request_header(frame, 4, len(frame))
        self.client.data.clear()
        self.feed("client", frame)
        self.run(cut)
        assert self.reason is None, self.detail
        answer = bytes(self.client.data)
        assert int.from_bytes(answer[:4]) == len(answer) - 4
        correlation_id, body = decode_response_header(answer, 4, len(answer), header.api_key, header.api_version)
        assert correlation_id == header.correlation_id
        return MESSAGES[header.api_key][1].decode(answer[body:], header.api_version)

    def run(self, cut: int = 1 << 20) -> None:
        """Let the broker answer, and answers be worked out, until there is nothing more to do."""
        while self.reason is None and (self.broker.data or self.steps):
            for request in frames.split(bytes(self.broker.data)):
                self.broker.data.clear()
                response = self.broker_on_paper.answer(framed(request))
                for at in range(0, len(response), cut):
                    self.feed("broker", response[at : at + cut])
            if self.steps:
                stepwise = self.steps.pop()
                while not stepwise.done:
                    self.steps_taken += 1
                    stepwise.step()
                self.resolved()


def encoded(request: WireMessage, version: int) -> bytes:
    """A request's whole frame."""
    key: int = request.api_key  # type: ignore[attr-defined]
    head = encode_request_header(RequestHeader(key, version, CORRELATION_ID, "admin"))
    return framed(head, request.encode(version))
