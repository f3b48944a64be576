# This module is pure (no I/O, no clock).
"""Handlers of group requests: those of hosted groups are answered here, all others pass unread.

A client is answered only after its broker was asked, for each connection and group, whether its principal may be a
member: the broker has the ACLs. Heartbeats have it asked again now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from kproxy.config.patterns import LONGEST_REMEMBERED
from kproxy.protocol.answer import Decode, M, response_frame
from kproxy.protocol.ask_broker import request_frame
from kproxy.protocol.context import Context
from kproxy.protocol.group_errors import at_the_top
from kproxy.protocol.outcomes import AskBroker, Deferred, Outcome, Steps
from kproxy.protocol.reading import well_formed
from kproxy.wire.apis import APIS
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.heartbeat_request import HeartbeatRequest
from kproxy.wire.generated.heartbeat_response import HeartbeatResponse
from kproxy.wire.header import (
    RequestHeader,
    decode_request_header,
    decode_response_header,
)
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import MAX_STRING, Buffer
from kproxy.wire.reader import Reader

if TYPE_CHECKING:
    from kproxy.coordinator.hosting import Hosting

Reply: TypeAlias = Callable[[WireMessage], None]
"""Answers the client, now or later."""
Questions: TypeAlias = Generator[bytes, bytes, None]
"""Yields requests to the broker, receives the response to each."""
Act: TypeAlias = Callable[["Hosting", Context, RequestHeader, M, Reply], Questions | None]
"""Takes a request of a hosted group to the coordinator.

It may return questions to the broker, which are asked before an answer that is there already goes out.
"""

_GROUP_ID_BYTES: Final = 5 + MAX_STRING
"""The most bytes of a group id with its length. A leader's SyncGroup may have 8 MiB behind it, which are not copied."""
_MOST_GROUPS: Final = 16
"""The groups of one connection whose permission is remembered; clients use a connection for one."""
_ASKED_AGAIN: Final = 30.0
"""Seconds. By its connection to the coordinator a member that commits nothing sends heartbeats only, which are answered
here: if nothing went on to the broker, that would end the connection as idle (`connections.max.idle.ms`, 10 min; load
balancers before brokers do so after one), and the client's with it. An ACL that is taken back counts then, too.
"""
_NOBODY: Final = "kproxy asks whether this principal may be a member"
"""A member id that no group has."""
_PERMITTED: Final = frozenset(
    {
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.GROUP_ID_NOT_FOUND,
    }
)
"""The broker's errors for a heartbeat of nobody, where the principal may read the group. Kafka's own is 25.

librdkafka's mock cluster has 69 for a group that it does not know.
"""


class Permissions:
    """The groups that a connection's principal may be a member of."""

    __slots__ = ("_again", "_principal")

    def __init__(self) -> None:
        self._again: dict[str, float] = {}
        """By group, when its broker is to be asked again."""
        self._principal: str | None = None

    def has(self, group_id: str, principal: str | None) -> bool:
        """Return whether the broker has permitted it to this principal."""
        return principal == self._principal and group_id in self._again

    def are_due(self, group_id: str, now: float) -> bool:
        """Return whether the broker is to be asked again about a group that it has permitted."""
        return now >= self._again.get(group_id, now + 1)

    def add(self, group_id: str, principal: str | None, now: float) -> None:
        """Remember that the broker has permitted it; a connection may change its principal (KIP-368)."""
        if principal != self._principal or (len(self._again) >= _MOST_GROUPS and group_id not in self._again):
            self._again.clear()
        self._principal = principal
        if len(group_id) <= LONGEST_REMEMBERED:
            self._again[group_id] = now + _ASKED_AGAIN

    def withdraw(self, group_id: str) -> None:
        """Forget that the broker has permitted it."""
        self._again.pop(group_id, None)


def group_in(frame: Buffer, body: int, header: RequestHeader) -> str:
    """Return the group id that begins a request's body; raises `MalformedMessageError`."""
    with well_formed("group id"):
        return Reader(frame[body : body + _GROUP_ID_BYTES]).string(
            header.api_version >= APIS[header.api_key].flexible_from
        )


def of_members(groups: Hosting, decode: Decode[M], act: Act[M]) -> Callable[[Context, memoryview], Outcome | None]:
    """Return the handler of an API that members use; `act` answers each request once, now or later."""

    def handle(context: Context, frame: memoryview) -> Outcome | None:
        header, body = decode_request_header(frame, 0, len(frame))
        group_id = group_in(frame, body, header)
        if not groups.hosts(group_id):
            return None
        request = decode(frame[body:], header.api_version)

        def answered() -> Deferred | AskBroker:
            deferred = Deferred()
            questions = act(groups, context, header, request, partial(_resolve, groups, deferred, header))
            return deferred if questions is None else AskBroker(_asking(deferred, questions))

        if context.state(Permissions).has(group_id, context.principal):
            return answered()
        return AskBroker(if_permitted(groups, context, header, group_id, answered))

    return handle


def _resolve(groups: Hosting, deferred: Deferred, header: RequestHeader, answer: WireMessage) -> None:
    with groups.contained():
        deferred.resolve(response_frame(header, answer))
        return
    error = ErrorCode.UNKNOWN_SERVER_ERROR
    deferred.resolve(at_the_top(header.api_key, header.api_version, header.correlation_id, error))


def _asking(deferred: Deferred, questions: Questions) -> Steps:
    yield from questions
    return deferred


def if_permitted(
    groups: Hosting,
    context: Context,
    header: RequestHeader,
    group_id: str,
    answered: Callable[[], bytes | Deferred | AskBroker],
) -> Steps:
    """Answer as `answered` does where the broker says that the principal may be a member, else with its error."""
    if error := (yield from permission(groups, context, header, group_id)):
        return at_the_top(header.api_key, header.api_version, header.correlation_id, error)
    outcome = answered()
    return (yield from outcome.steps) if isinstance(outcome, AskBroker) else outcome


def permission(groups: Hosting, context: Context, header: RequestHeader, group_id: str) -> Generator[bytes, bytes, int]:
    """Ask the broker whether the principal may be a member, and remember it; return its error, 0 for yes.

    It is asked by a heartbeat of nobody, which names the group as read, and changes nothing.
    """
    key = ApiKey.HEARTBEAT
    # In the client's own version the answer would pass as the client's, and its error, as a rule 25, would be counted.
    version = 1 if (header.api_key, header.api_version) == (key, 0) else 0
    question = HeartbeatRequest(group_id=group_id, generation_id=0, member_id=_NOBODY)
    answer = yield request_frame(header, (key, version, question))
    _, body = decode_response_header(answer, 0, len(answer), key, version)
    error = HeartbeatResponse.decode(memoryview(answer)[body:], version).error_code
    permissions = context.state(Permissions)
    if error in _PERMITTED:
        permissions.add(group_id, context.principal, groups.now)
        return ErrorCode.NONE
    if error == ErrorCode.GROUP_AUTHORIZATION_FAILED:
        permissions.withdraw(group_id)
    return error
