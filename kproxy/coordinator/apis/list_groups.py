# This module is pure (no I/O, no clock).
"""ListGroups (16): each hosted group is listed once, at the broker that the backend has as its coordinator.

A broker lists the groups that it keeps offsets for, and those that the principal may see; a hosted group is an empty
one to it. Of the hosted groups that it does not list it is asked: who may not see one gets 30, another broker's is 16.

Version notes: states and a filter by state are in v4 (KIP-518), types and a filter by type in v5 (KIP-848). Neither
filter minds the case.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from kproxy.coordinator.apis.admin_request import Pace, asked, walk_of
from kproxy.observe.reasons import Reason
from kproxy.protocol.answer import response_frame
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import Answer, AskBroker, Forward, Incremental, Steps
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.list_groups_request import ListGroupsRequest
from kproxy.wire.generated.list_groups_response import ListedGroup, ListGroupsResponse
from kproxy.wire.group_walks import GroupWalk
from kproxy.wire.header import RequestHeader, decode_request_header
from kproxy.wire.primitives import INT16
from kproxy.wire.primitives import frame as framed

if TYPE_CHECKING:
    from kproxy.coordinator.coordinator import Coordinator
    from kproxy.coordinator.group import Group
    from kproxy.coordinator.hosting import Hosting

REQUEST_LIMIT: Final = 34 << 10
"""The most bytes of a request: a client id, and two filters."""
_FILTERS: Final = 2 << 10
"""The most bytes of the filters: Kafka has nine states and five types."""
_CLASSIC: Final = "classic"
_HERE: Final = frozenset({ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND})
_UNREADY: Final = frozenset({ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE})
"""The errors of a coordinator that does not know its groups yet: then a broker lists none at all."""


def list_groups(groups: Hosting, context: Context, frame: memoryview) -> Answer | AskBroker | Forward:
    """Deal with a request; one that is for no hosted group passes, and its response is not looked at."""
    header, body = decode_request_header(frame, 0, len(frame))
    if len(frame) - body > _FILTERS:
        detail = f"filters of {len(frame) - body} bytes; the limit is {_FILTERS}"
        raise Fault(Reason.FRAME_TOO_LARGE, detail, header.api_key)
    request = ListGroupsRequest.decode(frame[body:], header.api_version)
    coordinator = groups.coordinator
    if coordinator.refuses in _UNREADY:
        return Answer(response_frame(header, ListGroupsResponse(error_code=coordinator.refuses)))
    types = _lowered(request.types_filter)
    if not coordinator.groups or (types and _CLASSIC not in types):
        return Forward(framed(frame), unseen=True)
    return AskBroker(_steps(coordinator, context, header, framed(frame), _lowered(request.states_filter)))


def _lowered(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


def _steps(
    coordinator: Coordinator, context: Context, header: RequestHeader, question: bytes, states: frozenset[str]
) -> Steps:
    answer = yield question
    walk = walk_of(context)
    (error,) = INT16.unpack_from(answer, walk.count_at - INT16.size)
    if error:
        return framed(answer)
    listed = {found.group_id for found in walk.found}
    others = yield from asked(header, _others(coordinator, listed, states))
    unready = next((one.error_code for one in others.values() if one.error_code in _UNREADY), None)
    if unready is not None:
        return response_frame(header, ListGroupsResponse(error_code=unready))
    here = [group_id for group_id, one in others.items() if one.error_code in _HERE]
    return Incremental(_answer(coordinator, answer, walk, here, states))


def _others(coordinator: Coordinator, listed: set[str], states: frozenset[str]) -> Iterator[str]:
    """Return the hosted groups that the broker has not listed, of those that are wanted."""
    for group_id in tuple(coordinator.groups):
        group = coordinator.groups.get(group_id)
        if group is not None and group_id not in listed and _wanted(group, states):
            yield group_id


def _wanted(group: Group, states: frozenset[str]) -> bool:
    return not states or group.state.lower() in states


def _answer(
    coordinator: Coordinator, answer: bytes, walk: GroupWalk, here: Sequence[str], states: frozenset[str]
) -> Generator[None, None, bytes]:
    pace = Pace()
    listed: list[bytes | None] = []
    for found in walk.found:
        group = coordinator.groups.get(found.group_id)
        listed.append(answer[found.begin : found.end] if group is None else _encoded(group, states, walk.version))
        if pace.over(1):
            yield
    added: list[bytes] = []
    for group_id in here:
        group = coordinator.groups.get(group_id)
        encoded = None if group is None else _encoded(group, states, walk.version)
        if encoded is not None:
            added.append(encoded)
        if pace.over(1):
            yield
    return framed(walk.replaced(answer, listed, added))


def _encoded(group: Group, states: frozenset[str], version: int) -> bytes | None:
    """Return a group as it is listed; None for one that is not wanted, or not any more."""
    if not _wanted(group, states):
        return None
    return ListedGroup(group.id, group.protocol_type or "", str(group.state), _CLASSIC).written(version)
