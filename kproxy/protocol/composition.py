# This module is pure (no I/O, no clock).
"""Several rooms' policies for the same APIs, composed in one order into one policy each.

`kproxy.cluster.policies` calls `compose` when a virtual cluster is made and whenever its policies change. A room is a
package of kproxy that takes part in APIs, such as telemetry.

A request goes through the rooms in that order, and so does the broker's response. Each room sees the request as the
room before it has left it. Once a room answers, the rooms behind it do not see the request. `compose` raises
`CompositionError` where rooms claim what they cannot share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from struct import Struct
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from kproxy.errors import KproxyError
from kproxy.protocol.api_table import (
    ApiPolicy,
    ChooseDetour,
    Chunk,
    Detour,
    OnRequest,
    OnResponse,
    RequestHandler,
    Respond,
    ResponseHandler,
    Route,
)
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import Forward, Outcome
from kproxy.wire.apis import APIS

_VERSION: Final = Struct(">2xh")
_SIZE: Final = 4


class LastWord(list[Chunk]):
    """Chunks of a response that no later room may change."""


class CompositionError(KproxyError):
    """Two rooms claim what only one can have: a mistake in the program, found when it starts."""


class Room(NamedTuple):
    """A room's policies by api key. Its name is for the message of a clash."""

    name: str
    policies: Mapping[int, ApiPolicy]


def compose(rooms: Sequence[Room]) -> Mapping[int, ApiPolicy]:
    """Return one policy for each API that any room takes part in, by api key; raises `CompositionError`."""
    keys = sorted({key for room in rooms for key in room.policies})
    parts = {key: [(room.name, room.policies[key]) for room in rooms if key in room.policies] for key in keys}
    return MappingProxyType({key: _composed(key, of_rooms) for key, of_rooms in parts.items()})


_Parts = Sequence[tuple[str, ApiPolicy]]
T = TypeVar("T")


def _composed(key: int, parts: _Parts) -> ApiPolicy:
    policies = [policy for _, policy in parts]
    if len(policies) == 1:
        return policies[0]
    _check(key, parts)
    held = [policy for policy in policies if policy.on_request is not OnRequest.PASS]
    seen = [policy for policy in policies if policy.on_response is not OnResponse.PASS]
    return ApiPolicy(
        on_request=max(policy.on_request for policy in policies),
        on_response=max(policy.on_response for policy in policies),
        request=_request([policy for policy in policies if policy.request is not None], sole=len(seen) <= 1),
        response=_response(seen),
        request_from=min((policy.request_from for policy in held), default=0),
        response_from=min((policy.response_from for policy in seen), default=0),
        refuse_below=max(policy.refuse_below for policy in policies),
        any_version=any(policy.any_version for policy in policies),
        glances=bool(seen) and all(policy.glances for policy in seen),
        request_limit=max((policy.request_limit for policy in held), default=ApiPolicy().request_limit),
        own=_only(key, parts, "own", lambda policy: policy.own),
        stale=_only(key, parts, "stale", lambda policy: policy.stale),
        stale_response=_only(key, parts, "stale_response", lambda policy: policy.stale_response),
        before=_only(key, parts, "before", lambda policy: policy.before),
        notice=_only(key, parts, "notice", lambda policy: policy.notice),
        in_transaction=_in_transaction(key, parts),
        rewriter=_only(key, parts, "rewriter", lambda policy: policy.rewriter),
        request_walk=_shared(key, parts, "request_walk", lambda policy: policy.request_walk),
        request_meter=_only(key, parts, "request_meter", lambda policy: policy.request_meter),
        response_meter=_only(key, parts, "response_meter", lambda policy: policy.response_meter),
        response_walk=_shared(key, parts, "response_walk", lambda policy: policy.response_walk),
        detour=_detour(policies, _only(key, parts, "detour", lambda policy: policy.detour)),
    )


def _in_transaction(key: int, parts: _Parts) -> ApiPolicy | None:
    if all(policy.in_transaction is None for _, policy in parts):
        return None
    return _composed(key, [(name, policy.in_transaction or policy) for name, policy in parts])


def _check(key: int, parts: _Parts) -> None:
    """Raise `CompositionError` if a room claims the whole API, or if rooms want to see it in incompatible ways."""
    for name, policy in parts:
        if policy.alone:
            others = " and ".join(other for other, _ in parts if other != name)
            raise _clash(key, f"{name} answers every request itself, so {others} cannot take part")
    acks = [name for name, policy in parts if policy.on_request is OnRequest.ACKS]
    whole = [name for name, policy in parts if policy.on_request is OnRequest.WHOLE]
    if acks and whole:
        raise _clash(key, f"{acks[0]} lets requests pass by their acks, {whole[0]} wants them whole")
    stream = [name for name, policy in parts if policy.on_response is OnResponse.STREAM]
    whole = [name for name, policy in parts if policy.on_response is OnResponse.WHOLE]
    if stream and whole:
        raise _clash(key, f"{stream[0]} lets responses stream, {whole[0]} wants them whole")


def _only(key: int, parts: _Parts, what: str, read: Callable[[ApiPolicy], T | None]) -> T | None:
    """Return what at most one room may claim; raises `CompositionError` if more do."""
    claims = [(name, claim) for name, policy in parts if (claim := read(policy)) is not None]
    if len(claims) > 1:
        raise _clash(key, f"{' and '.join(name for name, _ in claims)} both claim `{what}`")
    return claims[0][1] if claims else None


def _shared(key: int, parts: _Parts, what: str, read: Callable[[ApiPolicy], T | None]) -> T | None:
    """Return what all rooms that claim it must claim alike; raises `CompositionError` if they do not."""
    different: dict[T | None, tuple[str, ApiPolicy]] = {}
    for name, policy in parts:
        different.setdefault(read(policy), (name, policy))
    return _only(key, list(different.values()), what, read)


def _clash(key: int, why: str) -> CompositionError:
    return CompositionError(f"api {key} ({APIS[key].name}): {why}")


def _request(policies: Sequence[ApiPolicy], *, sole: bool) -> RequestHandler | None:
    """Return a handler that shows the request to each room in turn, as the rooms before have left it.

    `sole` is true if at most one room looks at responses: then that room may let a response pass unseen.
    """
    handlers = [(policy.request_from, policy.request) for policy in policies if policy.request is not None]
    if not handlers:
        return None

    def handle(context: Context, frame: memoryview) -> Outcome | None:
        (version,) = _VERSION.unpack_from(frame)
        sent: Forward | None = None
        for request_from, handler in handlers:
            if 0 <= version < request_from:
                continue
            outcome = handler(context, frame)
            if outcome is None:
                continue
            if not isinstance(outcome, Forward):
                return outcome
            last = outcome.last if sent is None or outcome.last is not None else sent.last
            sent = Forward(outcome.frame, last, outcome.unseen and sole)
            frame = memoryview(sent.frame)[_SIZE:]
            context.walk = None  # it was over the frame before
        return sent

    return handle


def _detour(policies: Sequence[ApiPolicy], choose: ChooseDetour | None) -> ChooseDetour | None:
    """Return the same choice, with the rooms before its own in front of a request that takes a detour."""
    earlier = [policy for policy in takewhile(lambda policy: policy.detour is None, policies) if policy.request]
    if choose is None or not earlier:
        return choose
    first = _request(earlier, sole=False)
    assert first is not None

    def chosen(context: Context, version: int) -> Detour | None:
        found = choose(context, version)
        if found is None or found.request is None:
            return found
        return Detour(_in_front(first, found.request, found.spared))

    return chosen


def _in_front(first: RequestHandler, then: RequestHandler, spared: Callable[[], None] | None) -> RequestHandler:
    """Return a handler that asks `then` only where `first` lets a request go on, and not as its client's last."""

    def handle(context: Context, frame: memoryview) -> Outcome | None:
        goes_on = False
        try:
            outcome = first(context, frame)
            goes_on = outcome is None or (isinstance(outcome, Forward) and outcome.last is None)
        finally:
            if not goes_on and spared is not None:
                spared()
        return then(context, frame) or outcome if goes_on else outcome

    return handle


def _response(policies: Sequence[ApiPolicy]) -> ResponseHandler:
    """Return a handler that shows the response to each room in turn, as the rooms before have left it."""

    def make(route: Route) -> Respond:
        wanted = [policy for policy in policies if route.version >= policy.response_from]
        responds = [policy.response(route) for policy in wanted if policy.response is not None]
        return responds[0] if len(responds) == 1 else _in_turn(responds)

    return make


def _in_turn(responds: Sequence[Respond]) -> Respond:
    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        changed: Sequence[Chunk] | None = None
        for number, one in enumerate(responds, 1):
            chunks = one(context, frame)
            if chunks is None:
                continue
            changed = chunks
            if isinstance(chunks, LastWord):
                break
            if number < len(responds):
                frame = memoryview(b"".join(chunks))
        return changed

    return respond
