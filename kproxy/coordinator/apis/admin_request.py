# This module is pure (no I/O, no clock).
"""What the admin's APIs share: which groups of a message are hosted, and what the broker says of them.

An admin's request goes to the broker on the client's own connection: the broker has the ACLs, and knows which broker is
a group's coordinator. kproxy changes what it answers of hosted groups. Messages with thousands of groups are not
decoded; the relay walks over them while they arrive, and answers are made in steps.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from kproxy.errors import MalformedMessageError
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiPolicy, OnRequest, OnResponse, RequestHandler, Respond, Route
from kproxy.protocol.ask_broker import request_frame
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import AskBroker, Forward, Steps
from kproxy.protocol.walked import walked
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.describe_groups_request import DescribeGroupsRequest
from kproxy.wire.generated.describe_groups_response import DescribedGroup, DescribeGroupsResponse
from kproxy.wire.group_walks import AUTHORIZED, GroupWalk, NamedGroups
from kproxy.wire.header import RequestHeader, decode_request_header, decode_response_header
from kproxy.wire.primitives import frame as framed

if TYPE_CHECKING:
    from kproxy.coordinator.hosting import Hosting

W = TypeVar("W", bound=GroupWalk)

MOST_GROUPS: Final = 20_000
"""The most groups of a request, twice as many as are hosted: 64,000 names of a byte would come in one read."""
REQUEST_LIMIT: Final = 8 << 20
"""The most bytes of a request: 20,000 names of 400 bytes."""
_STEP: Final = 200
"""How many groups and members are encoded in a step, which takes a millisecond or two."""
_ASKED_AT_ONCE: Final = 200
"""The most groups in a question of kproxy's own: its answer is decoded at once."""

Questions: TypeAlias = Generator[bytes, bytes, "Mapping[str, DescribedGroup]"]
"""Yields requests, receives the response to each; returns what the broker says of groups, by their ids."""
Concerns: TypeAlias = Callable[[str], bool]
WalkRequest: TypeAlias = Callable[[int, int], NamedGroups]
"""Takes an api key and a version; returns a new walk over a request."""
NamingSteps: TypeAlias = Callable[["Hosting", Context, RequestHeader, bytes, NamedGroups], Steps]
"""Takes a request's frame without its size, and the hosted groups that it names."""


class Pace:
    """Tells when a step of an answer is over."""

    def __init__(self) -> None:
        self._left = _STEP

    def over(self, cost: int) -> bool:
        """Return whether to let others have their turn, after encoding as much as so many groups."""
        self._left -= cost
        if self._left > 0:
            return False
        self._left = _STEP
        return True


class Seen:
    """The walk over the broker's last response to a request of a connection."""

    __slots__ = ("walk",)

    def __init__(self) -> None:
        self.walk: GroupWalk | None = None


def concerned(groups: Hosting) -> Concerns:
    """Return whether kproxy has anything to say of a group: it knows it, or will know it once all are loaded."""
    coordinator = groups.coordinator

    def concerns(group_id: str) -> bool:
        return groups.hosts(group_id) if coordinator.refuses else group_id in coordinator.groups

    return concerns


def policy(
    handle: RequestHandler,
    walk_request: WalkRequest | None,
    kind: type[W],
    walk_response: Callable[[int, int], W],
    request_limit: int = REQUEST_LIMIT,
) -> ApiPolicy:
    """Return the policy of an API whose requests and responses are walked; `walk_response` makes a walk of `kind`."""
    return ApiPolicy(
        on_request=OnRequest.WHOLE,
        request=handle,
        request_limit=request_limit,
        request_walk=walk_request,
        on_response=OnResponse.WHOLE,
        response=partial(_seen, kind, walk_response),
        response_walk=walk_response,
    )


def _seen(kind: type[W], make: Callable[[int, int], W], route: Route) -> Respond:
    """Have the walk over a response be found by the dialogue that has asked for it; the response stays as it is."""

    def respond(context: Context, frame: memoryview) -> None:
        context.state(Seen).walk = walked(context, frame, kind, partial(make, route.api_key, route.version))

    return respond


def walk_of(context: Context) -> GroupWalk:
    """Return the walk over the response that a dialogue has just got, and let go of it."""
    seen = context.state(Seen)
    walk, seen.walk = seen.walk, None
    assert walk is not None, "the relay shows each response of the request's own version to `_seen`"
    return walk


def naming(groups: Hosting, make: WalkRequest, steps: NamingSteps) -> RequestHandler:
    """Return the handler of an API whose requests name groups; `steps` deal with those that name hosted ones.

    The others pass, and their responses are not looked at. It raises `Fault` for a request that names too many.
    """

    def handle(context: Context, frame: memoryview) -> AskBroker | Forward:
        header, _ = decode_request_header(frame, 0, len(frame))
        named = walked(context, frame, NamedGroups, partial(make, header.api_key, header.api_version))
        if named.count > MOST_GROUPS:
            detail = f"a request that names {named.count} groups; the limit is {MOST_GROUPS}: ask for them in several"
            raise Fault(Reason.FRAME_TOO_LARGE, detail, header.api_key)
        if not named.found:
            return Forward(framed(frame), unseen=True)
        return AskBroker(steps(groups, context, header, bytes(frame), named))

    return handle


def asked(header: RequestHeader, group_ids: Iterable[str]) -> Questions:
    """Ask the broker about groups, with the operations that the client's principal is authorized for.

    The result lacks those that the broker did not answer.
    """
    found: dict[str, DescribedGroup] = {}
    ids = iter(group_ids)
    while batch := list(islice(ids, _ASKED_AT_ONCE)):
        question = DescribeGroupsRequest(batch, include_authorized_operations=True)
        answer = yield request_frame(header, (ApiKey.DESCRIBE_GROUPS, AUTHORIZED, question))
        found.update((one.group_id, one) for one in _described(answer))
    return found


def _described(answer: bytes) -> Sequence[DescribedGroup]:
    try:
        _, body = decode_response_header(answer, 0, len(answer), ApiKey.DESCRIBE_GROUPS, AUTHORIZED)
        return DescribeGroupsResponse.decode(memoryview(answer)[body:], AUTHORIZED).groups
    except MalformedMessageError:
        return ()
