# This module is pure (no I/O, no clock).
"""Throttles principals that produce or fetch above their byte rate, as a broker does.

A virtual cluster has these policies once it has `byte_rates`. The relay calls them for each Produce request and each
Fetch response.

The client is told by `throttle_time_ms` in its next response how long to wait (KIP-219: it gets the response at once).
It is not read for as long, so that one that does not wait has to. Produce requests are counted when they begin, since
their size is known then; the response to one comes later, and tells the throttle time. How much a Fetch request moves
is known when its response begins. So one waits that begins while its principal is throttled, on another connection or
a new one, and one that begins behind another of the same connection: a broker, too, takes them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Final

from kproxy.protocol.api_table import ApiPolicy, Chunk, OnRequest, OnResponse, Respond, Route
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import Hold
from kproxy.quotas.byte_rates import ByteRates
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.produce_response import ProduceResponse
from kproxy.wire.header import decode_response_header

_PRODUCE: Final = "Produce"
_FETCH: Final = "Fetch"


_LOOK_AGAIN: Final = 0.1
"""Seconds until a Fetch request is looked at again that came behind another; no client that is known sends two."""


class Fetches:
    """Of one connection whose principal has a rate: whether a Fetch is under way, or one has waited for the rate."""

    __slots__ = ("has_waited", "under_way")

    def __init__(self) -> None:
        self.has_waited = False
        self.under_way = False


class Untold:
    """The milliseconds of throttling that a client is to be told in its next Produce response."""

    __slots__ = ("milliseconds",)

    def __init__(self) -> None:
        self.milliseconds = 0


def policies(rates: ByteRates, clock: Callable[[], float]) -> Mapping[int, ApiPolicy]:
    """Return the policies by api key; none without rules. `clock` tells the relay's time."""
    if not rates:
        return {}
    metered = ApiPolicy(before=partial(fetch, rates, clock), response_meter=partial(fetched, rates))
    return {
        ApiKey.PRODUCE: ApiPolicy(
            on_request=OnRequest.ACKS,
            on_response=OnResponse.WHOLE,
            response=tell,
            request_meter=partial(produced, rates),
        ),
        ApiKey.FETCH: metered,
        ApiKey.SHARE_FETCH: metered,
    }


def produced(rates: ByteRates, context: Context, count: int, now: float) -> int:
    """Note the bytes of a Produce request; return the milliseconds for which the client is throttled."""
    milliseconds = _counted(context, _PRODUCE, rates.produced(context.principal, count, now))
    if milliseconds:
        context.state(Untold).milliseconds = milliseconds
    return milliseconds


def fetch(
    rates: ByteRates, clock: Callable[[], float], context: Context, buf: Chunk, pos: int, end: int
) -> Hold | None:
    """Hold a Fetch request, once for the rate and as long as another is under way."""
    del buf, pos, end
    fetches = context.state(Fetches)
    if fetches.under_way:
        return Hold(_LOOK_AGAIN)
    seconds = 0.0 if fetches.has_waited else rates.fetch_waits(context.principal, clock())
    fetches.has_waited = bool(_counted(context, _FETCH, seconds))
    if fetches.has_waited:
        return Hold(seconds)
    fetches.under_way = rates.limits_fetch(context.principal)
    return None


def fetched(rates: ByteRates, context: Context, count: int, now: float) -> int:
    """Note the bytes of a Fetch response; return the milliseconds for which the client is throttled."""
    fetches = context.state(Fetches)
    fetches.under_way = False
    milliseconds = _counted(context, _FETCH, rates.fetched(context.principal, count, now))
    fetches.has_waited = bool(milliseconds)  # the client is not read for as long: its next one need not wait again
    return milliseconds


def _counted(context: Context, api: str, seconds: float) -> int:
    if not seconds:
        return 0
    counters = context.cluster.counters
    counters.throttles[api] += 1
    counters.throttle_seconds[api] += seconds
    return ceil(seconds * 1000)


def tell(route: Route) -> Respond:
    """Return the handler that puts the throttle time into a Produce response."""

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        untold = context.find(Untold)
        if untold is None or not untold.milliseconds:
            return None
        milliseconds, untold.milliseconds = untold.milliseconds, 0
        _, body = decode_response_header(frame, 0, len(frame), route.api_key, route.version)
        response = ProduceResponse.decode(frame[body:], route.version)
        response.throttle_time_ms = max(response.throttle_time_ms, milliseconds)
        return [bytes(frame[:body]), response.encode(route.version)]

    return respond
