# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""What kproxy does with each API: rooms' policies, and for each virtual cluster a table by api key and version.

`ClusterDestination` makes the tables when a virtual cluster is made and whenever its policies change. The request flow
looks up the route of each request.

A room (a package of kproxy, such as telemetry) takes part in an API by an `ApiPolicy`. An API without a policy passes
unchanged, if Kafka's schemas know it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from kproxy.observe.counters import OTHER, ApiCounters, ClusterCounters
from kproxy.observe.reasons import Reason
from kproxy.protocol.body_rewriter import BodyRewriter
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import Hold, Outcome, Steps
from kproxy.wire.apis import APIS, ApiSpec, response_header_version
from kproxy.wire.arriving import ArrivingWalk
from kproxy.wire.error_walk import error_walk
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.primitives import MAX_INT32
from kproxy.wire.skim import begins_with_throttle_time, error_offset, response_glance

Chunk = bytes | memoryview


class OnRequest(IntEnum):
    """How much of a request the relay looks at."""

    PASS = 0
    """The first twelve bytes."""
    ACKS = 1
    """Up to `acks`: a Produce request with acks=0 has no response."""
    WHOLE = 2
    """All: the request is held until it is complete, then handed to the policy."""


class OnResponse(IntEnum):
    """How much of a response the relay looks at."""

    PASS = 0
    """The correlation id, and the error codes: of a large one that comes in pieces, the one at a fixed offset."""
    WHOLE = 1
    """All: the response is held until it is complete, then handed to the policy."""
    STREAM = 2
    """All, as it arrives. A response that is complete in one read is handed to the policy, as with WHOLE."""


RequestHandler = Callable[[Context, memoryview], Outcome | None]
"""Takes a whole request frame without its size; returns its outcome, None to send it on unchanged."""
Respond = Callable[[Context, memoryview], Sequence[Chunk] | None]
"""Takes a whole response frame without its size; returns the chunks to send in its place, None to leave it."""
ResponseHandler = Callable[["Route"], Respond]
"""Makes a route's response handler, so that what depends on the version is looked up once."""
Before = Callable[[Context, Chunk, int, int], Steps | Hold | None]
"""Takes a buffer, the position of a request in it behind the size, and the end of the buffer's bytes. At least the
bytes that `on_request` names are there. Returns steps that ask the broker and return b"", or how long the request is
held; None to go on."""
Notice = Callable[[Context, Chunk, int, int], None]
"""Takes the same as `Before`, once for each request that goes on."""
StaleResponse = Callable[[int, int], bytes]
"""Takes a version and a correlation id, not the request; returns a whole response frame with its size."""
MakeRewriter = Callable[[Context, int, Chunk, int, int], BodyRewriter | None]
"""Takes a version, a buffer, a request's position in it behind the size, and that size. None: it passes unseen."""

Meter = Callable[[Context, int, float], int]
"""Takes a frame's bytes, and when it began; returns for how many milliseconds the client is throttled, mostly 0."""
ChooseDetour = Callable[[Context, int], "Detour | None"]
"""Takes a version when a request begins, of which no more may be there; returns what is done with this one instead."""
MakeWalk = Callable[[int, int], ArrivingWalk]
"""Takes an api key and a version; returns a new walk over one frame."""


@dataclass(frozen=True, slots=True)
class Detour:
    """What is done with one request in place of what its API's policy says."""

    request: RequestHandler | None = None
    """Takes the request, which is held whole, however large; None returned sends it on unchanged."""
    hold: Hold | None = None
    """In place of a handler: how long the request is held before the policy deals with it."""
    spared: Callable[[], None] | None = None
    """Called where another room has dealt with the request, so that `request` is not asked."""


@dataclass(frozen=True, slots=True)
class ApiPolicy:
    """What a room does with one API. An API without a policy passes unchanged."""

    on_request: OnRequest = OnRequest.PASS
    on_response: OnResponse = OnResponse.PASS
    request: RequestHandler | None = None
    response: ResponseHandler | None = None
    request_from: int = 0
    """Requests of lower versions pass unchanged."""
    response_from: int = 0
    """Responses of lower versions pass unchanged."""
    refuse_below: int = 0
    """Lower versions end the connection."""
    any_version: bool = False
    """Versions that Kafka's schemas do not know go to `request`, too."""
    glances: bool = False
    """Responses rarely name an address; one that names none is sent on and not handed to `response`."""
    request_limit: int = 64 << 10
    """The most bytes of a request that is held whole: what a client can have decoded at a time."""
    own: tuple[int, int] | None = None
    """The lowest and highest version that the proxy serves even if the broker does not know the API."""
    alone: bool = False
    """This room answers every request of the API itself: no other room may take part in it."""
    stale: ApiPolicy | None = None
    """Replaces all rooms' policies for the API on a connection of an earlier epoch."""
    stale_response: StaleResponse | None = None
    """Answers a request in flight in place of a broker of an earlier epoch."""
    before: Before | None = None
    """Looks at a request before it is dealt with. If it asks the broker, the requests behind this one wait."""
    notice: Notice | None = None
    """Looks at a request that goes on, behind `before`, and changes nothing."""
    in_transaction: ApiPolicy | None = None
    """Replaces this room's policy for Produce requests with a transactional id; those without cost nothing more."""
    rewriter: MakeRewriter | None = None
    """Changes a request's body while it passes, without holding it whole."""
    request_walk: MakeWalk | None = None
    """Walks over a request that is held, while it arrives; `walked` returns the walk to the handler."""
    response_walk: MakeWalk | None = None
    """The same for a response."""
    request_meter: Meter | None = None
    """Counts each request."""
    response_meter: Meter | None = None
    """Counts each response of the broker; the client is told where the response begins with `throttle_time_ms`."""
    detour: ChooseDetour | None = None
    """Chooses single requests that take another way. All others pass as if it were not there."""


PASS_UNCHANGED: Final = ApiPolicy()
GATHERED: Final = 128 << 10
"""The largest response that is walked for its error codes. A large one takes 5 ns a byte, uncompiled."""
_RECORDS_GATHERED: Final = 8 << 10
"""The same for Fetch, if it does not stream: records are not to be copied, and a client may read them as they come."""


class Route:
    """What the relay does with one API in one version."""

    __slots__ = (
        "_spec",
        "_unseen",
        "api_key",
        "before",
        "body_at",
        "counters",
        "detour",
        "error_at",
        "errors",
        "gathers",
        "glance",
        "head_bytes",
        "in_transaction",
        "on_request",
        "on_response",
        "policy",
        "removed",
        "request_meter",
        "respond",
        "response_meter",
        "rewriter",
        "tells_throttle",
        "version",
        "walked",
    )

    def __init__(self, spec: ApiSpec, version: int, policy: ApiPolicy, counters: ApiCounters) -> None:
        self._spec = spec
        self._unseen: Route | None = None
        self.api_key = spec.key
        self.version = version
        self.removed = f"{spec.name} v{version}" if version < spec.newest_from else ""
        """The request's name, if Kafka 4 has removed the version (KIP-896): its brokers close the connection."""
        self.policy = policy
        self.counters = counters
        self.on_request = OnRequest.PASS if 0 <= version < policy.request_from else policy.on_request
        self.on_response = policy.on_response if version >= policy.response_from else OnResponse.PASS
        self.before = policy.before if policy.notice is None else _noticed(policy.before, policy.notice)
        self.detour = policy.detour
        self.in_transaction = None if policy.in_transaction is None else self._as(policy.in_transaction)
        """The route of a Produce request with a transactional id, where some room deals with it otherwise."""
        self.rewriter = policy.rewriter
        self.request_meter = policy.request_meter
        self.response_meter = policy.response_meter
        rewritten_by = None if self.on_response is OnResponse.PASS else policy.response
        self.respond: Respond = _leave if rewritten_by is None else rewritten_by(self)
        self.glance = response_glance(spec.key, version) if rewritten_by is not None and policy.glances else None
        known = spec.min_version <= version <= spec.max_version
        offset = error_offset(spec.key, version) if known else None
        # A flexible header has tagged fields after the correlation id. Every broker sends them as one zero byte.
        header = 8 + (response_header_version(spec.key, version) if known else 0)
        self.body_at = header
        """Where a response's body begins, with `throttle_time_ms` if it has that, counted from the frame's size."""
        self.tells_throttle = begins_with_throttle_time(spec.key, version)
        """False for Fetch v0, from before brokers throttled: its client is not read for as long, and not told."""
        self.error_at = None if offset is None else header + offset
        """Where a response's top-level code is, counted from the frame's size; None where its offset is not fixed."""
        self.errors = error_walk(spec.key, version) if known else None
        """Finds the error codes of a whole response; None where it can have none."""
        self.walked = self.errors is not None and self.errors.walks
        """True where a response may have other codes than the one at `error_at`."""
        self.gathers = 0 if not self.walked else _RECORDS_GATHERED if spec.key == ApiKey.FETCH else GATHERED
        """The most bytes of a passing response that is held until it is complete, so that its codes are seen.

        Its client, which cannot read a part of it, loses no time.
        """
        throttled = self.body_at + 4 if self.response_meter is not None and self.tells_throttle else 0
        self.head_bytes = max(8 if self.error_at is None else self.error_at + 2, throttled)
        """How many bytes of a response must be there for its error code and its throttle time to be seen."""

    def walk_request(self) -> ArrivingWalk | None:
        """Return a new walk over a request that is held while it arrives; None where the policy has none."""
        make = self.policy.request_walk
        return None if make is None else make(self.api_key, self.version)

    def walk_response(self) -> ArrivingWalk | None:
        """Return the same for a response."""
        make = self.policy.response_walk
        return None if make is None else make(self.api_key, self.version)

    def unseen(self) -> Route:
        """Return the route for a request whose response needs no look (`Forward.unseen`)."""
        if self._unseen is None:
            policy = replace(self.policy, on_response=OnResponse.PASS, response=None, response_walk=None)
            self._unseen = self._as(policy)
        return self._unseen

    def by(self, detour: Detour) -> Route:
        """Return the route of one request that takes a detour."""
        policy = replace(
            self.policy, before=None, notice=None, rewriter=None, request_walk=None, request_meter=None, detour=None
        )
        hold = detour.hold
        if hold is not None:
            policy = replace(policy, on_request=OnRequest.PASS, before=lambda *_: hold)
        else:
            policy = replace(
                policy, on_request=OnRequest.WHOLE, request=detour.request, request_from=0, request_limit=MAX_INT32
            )
        return self._as(policy)

    def _as(self, policy: ApiPolicy) -> Route:
        return Route(self._spec, self.version, policy, self.counters)


class ApiTable:
    """The routes of one virtual cluster, each made at its first use. A retired listener's serves `only` some APIs."""

    def __init__(
        self,
        counters: ClusterCounters,
        policies: Mapping[int, ApiPolicy],
        apis: Mapping[int, ApiSpec] = APIS,
        only: frozenset[int] | None = None,
    ) -> None:
        self.counters = counters
        self.routes: dict[int, Route] = {}
        self._policies = policies
        self._apis = apis
        self._only = only
        self._stale: ApiTable | None = None
        self.meters_responses = any(policy.response_meter is not None for policy in policies.values())
        """True when responses may have to change where they lie."""

    @property
    def stale(self) -> ApiTable:
        """The table for connections of an earlier epoch, made at its first use."""
        if self._stale is None:
            policies = {key: policy.stale or policy for key, policy in self._policies.items()}
            self._stale = ApiTable(self.counters, policies, self._apis, self._only)
            self._stale._stale = self._stale
        return self._stale

    def route(self, key_and_version: int) -> Route:
        """Return the route of a request whose header begins with these four bytes; raises `Fault` when refused."""
        route = self.routes.get(key_and_version)
        if route is None:
            key, version = _int16(key_and_version >> 16), _int16(key_and_version & 0xFFFF)
            spec = self._spec(key)
            route = self._make(spec, version)
            if spec.min_version <= version <= spec.max_version:  # a client can invent any number of others
                self.routes[key_and_version] = route
        return route

    def _spec(self, key: int) -> ApiSpec:
        spec = self._apis.get(key)
        if spec is None:
            raise self._refused(key, Reason.UNKNOWN_API, f"api key {key} is not in Kafka's schemas")
        if not spec.broker:
            raise self._refused(key, Reason.REFUSED_API, f"{spec.name} is between brokers and controllers only")
        if self._only is not None and key not in self._only:
            raise self._refused(key, Reason.RETIRED_NODE, f"{spec.name} is not served at a node that is gone")
        return spec

    def _make(self, spec: ApiSpec, version: int) -> Route:
        policy = self._policies.get(spec.key, PASS_UNCHANGED)
        lowest = max(spec.min_version, policy.refuse_below)
        if lowest <= version <= spec.max_version:
            return Route(spec, version, policy, self.counters.api(spec.key, version))
        if policy.any_version:
            return Route(spec, version, policy, self.counters.api(spec.key, OTHER))
        detail = f"{spec.name} v{version} is outside {lowest}..{spec.max_version}"
        raise self._refused(spec.key, Reason.UNSUPPORTED_VERSION, detail)

    def _refused(self, key: int, reason: Reason, detail: str) -> Fault:
        self.counters.refuse(key, reason)
        return Fault(reason, detail, api_key=key)

    def own(self) -> tuple[tuple[int, int, int], ...]:
        """Return the APIs that clients may use whatever the broker knows: api key, lowest and highest version."""
        return tuple((key, *policy.own) for key, policy in sorted(self._policies.items()) if policy.own is not None)

    def served(self) -> tuple[tuple[int, int, int], ...]:
        """Return the APIs that clients may use: api key, lowest and highest version."""
        return tuple(
            (key, max(spec.min_version, self._policies.get(key, PASS_UNCHANGED).refuse_below), spec.max_version)
            for key, spec in self._apis.items()
            if spec.broker and (self._only is None or key in self._only)
        )


def _noticed(before: Before | None, notice: Notice) -> Before:
    """Return what looks at a request first, and notices the one that goes on."""

    def look(context: Context, buf: Chunk, pos: int, end: int) -> Steps | Hold | None:
        found = None if before is None else before(context, buf, pos, end)
        if found is None:
            notice(context, buf, pos, end)
        return found

    return look


def _leave(context: object, frame: object) -> None:
    del context, frame


def _int16(value: int) -> int:
    return value - 0x10000 if value & 0x8000 else value
