# This module is pure (no I/O, no clock).
"""Read the series of /metrics from the counters: label values and numbers, independent of Prometheus.

A scrape runs these readers in a worker thread, while Trio's thread counts. So a dict that may grow is copied first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Final, TypeAlias

from kproxy.observe.counters import (
    BOOTSTRAP,
    OTHER,
    Accepting,
    ApiCounters,
    ClusterCounters,
    Counters,
    Groups,
    Histogram,
    NodeCounters,
    Queue,
    Series,
    TelemetryCounters,
    UpstreamCounters,
)
from kproxy.observe.loop_lag import LoopLag
from kproxy.wire.apis import APIS
from kproxy.wire.error_codes import classify, error_name
from kproxy.wire.generated.api_keys import ApiKey

Labels: TypeAlias = tuple[str, ...]
Numbers: TypeAlias = Iterator[tuple[Labels, int | float]]
Histograms: TypeAlias = Iterator[tuple[Labels, Histogram]]
Rows: TypeAlias = Callable[[ClusterCounters], Numbers | Histograms]
Lags: TypeAlias = Iterator[tuple[Labels, LoopLag]]
ProcessRows: TypeAlias = Callable[[Counters], Numbers | Histograms | Lags]


_LEFT_OUT: Final = ("full", "address_share", "client_share", "conflicting", "invalid")
"""Why data points are left out: attributes of `Series`."""
_LOST_BY: Final = ("full", "refused", "late", "malformed", "failed")
"""Why items of a queue are lost: `kproxy.delivery.destinations.Counters`."""


def api_label(key: int) -> str:
    """Return Kafka's name of an API, the number of an unknown API, or "other" for the key `OTHER`."""
    if key == OTHER:
        return "other"
    return APIS[key].name if key in APIS else str(key)


def version_label(version: int) -> str:
    return "other" if version == OTHER else str(version)


def node_label(node_id: int) -> str:
    return "bootstrap" if node_id == BOOTSTRAP else str(node_id)


def error_labels(code: int, api_key: int) -> Labels:
    """Return an error code's name, or its number when it has no name, and its KIP-1050 class."""
    name = "other" if code == OTHER else error_name(code)
    return name, classify(code, api_key).value


def _apis(cluster: ClusterCounters) -> Iterator[tuple[Labels, ApiCounters]]:
    for api in cluster.apis.copy().values():
        yield (api_label(api.api_key), version_label(api.api_version)), api


def _nodes(cluster: ClusterCounters) -> Iterator[tuple[str, NodeCounters]]:
    for node in cluster.nodes.copy().values():
        yield node_label(node.node_id), node


def whole(field: str) -> Rows:
    read: Callable[[ClusterCounters], int] = attrgetter(field)

    def rows(cluster: ClusterCounters) -> Numbers:
        yield (), read(cluster)

    return rows


def by_api(field: str) -> Rows:
    read: Callable[[ApiCounters], int] = attrgetter(field)
    return lambda cluster: ((labels, read(api)) for labels, api in _apis(cluster))


def histograms_by_api(field: str) -> Rows:
    read: Callable[[ApiCounters], Histogram] = attrgetter(field)
    return lambda cluster: ((labels, read(api)) for labels, api in _apis(cluster) if any(read(api).counts))


def by_key(field: str) -> Rows:
    read: Callable[[ClusterCounters], dict[str, int]] = attrgetter(field)
    return lambda cluster: (((str(key),), count) for key, count in read(cluster).copy().items())


def by_pair(field: str) -> Rows:
    read: Callable[[ClusterCounters], dict[tuple[str, str], int]] = attrgetter(field)
    return lambda cluster: iter(read(cluster).copy().items())


def by_notified(cluster: ClusterCounters) -> Numbers:
    return iter(cluster.notified.copy().items())


def by_upstream(cluster: ClusterCounters) -> Numbers:
    return (((name,), int(active)) for name, active in cluster.upstreams.copy().items())


def by_look(field: str) -> Rows:
    """Read one number of each upstream cluster, where it is known."""
    read: Callable[[UpstreamCounters], float | None] = attrgetter(field)

    def rows(cluster: ClusterCounters) -> Numbers:
        for name, look in cluster.looks.items():
            if (value := read(look)) is not None:
                yield (name,), float(value)

    return rows


def order_number(cluster: ClusterCounters) -> Numbers:
    if cluster.orders is not None:
        yield (), cluster.orders.number


def order_pending(cluster: ClusterCounters) -> Numbers:
    if cluster.orders is not None:
        yield (), int(cluster.orders.pending)


def by_place(cluster: ClusterCounters) -> Numbers:
    if cluster.orders is not None:
        for place, read in cluster.orders.places.items():
            yield (place,), int(read)


def by_certificate(cluster: ClusterCounters) -> Numbers:
    return (((setting,), ends) for setting, ends in cluster.certificates.items())


def by_process_certificate(counters: Counters) -> Numbers:
    return (((setting,), ends) for setting, ends in counters.certificates.items())


def by_error(cluster: ClusterCounters) -> Numbers:
    for labels, api in _apis(cluster):
        for code, count in api.errors.copy().items():
            yield (*labels, *error_labels(code, api.api_key)), count


def by_refusal(cluster: ClusterCounters) -> Numbers:
    for (key, reason), count in cluster.refused.copy().items():
        yield (api_label(key), str(reason)), count


def reachable_by_node(cluster: ClusterCounters) -> Numbers:
    for label, node in _nodes(cluster):
        if node.reachable is not None:
            yield (label,), int(node.reachable)


def connects_by_node(cluster: ClusterCounters) -> Numbers:
    return (((label,), node.connects) for label, node in _nodes(cluster))


def connect_failures_by_node(cluster: ClusterCounters) -> Numbers:
    for label, node in _nodes(cluster):
        for reason, count in node.connect_failures.copy().items():
            yield (label, str(reason)), count


def telemetry(field: str) -> Rows:
    """Read one number of a virtual cluster's telemetry, if any; `field` is a dotted path in `TelemetryCounters`."""
    read: Callable[[TelemetryCounters], int | float] = attrgetter(field)
    return lambda cluster: iter(() if cluster.telemetry is None else [((), read(cluster.telemetry))])


def telemetry_requests(cluster: ClusterCounters) -> Numbers:
    """Read the requests by API and error; the code 0 is NONE."""
    if cluster.telemetry is None:
        return
    tally = cluster.telemetry.tally
    for key, counts in ((ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, tally.gets), (ApiKey.PUSH_TELEMETRY, tally.pushes)):
        for code, count in counts.copy().items():
            yield (api_label(key), error_labels(code, key)[0]), count


def telemetry_refusals(cluster: ClusterCounters) -> Numbers:
    """Read the requests over a quota by its name, zeros included."""
    if cluster.telemetry is not None:
        for reason, count in cluster.telemetry.tally.refused.copy().items():
            yield (reason,), count


def telemetry_instances(cluster: ClusterCounters) -> Numbers:
    if cluster.telemetry is not None:
        yield (), len(cluster.telemetry.instances)


def by_receiver(field: str) -> Rows:
    read: Callable[[Queue], int] = attrgetter(field)
    return lambda cluster: (((name,), read(queue)) for name, queue in _queues(cluster))


def dropped_by_receiver(cluster: ClusterCounters) -> Numbers:
    for name, queue in _queues(cluster):
        yield from _dropped(name, queue.dropped)


def _dropped(name: str, dropped: dict[str, int]) -> Numbers:
    """Each reason begins at 0, so that Prometheus sees a loss that happens once."""
    for reason, count in (dict.fromkeys(_LOST_BY, 0) | dropped.copy()).items():
        yield (name, reason), count


def series_by_receiver(cluster: ClusterCounters) -> Numbers:
    return (((name,), held.series) for name, held in _series(cluster))


def points_by_receiver(cluster: ClusterCounters) -> Numbers:
    """Read the rejected points by reason, zeros included, so that Prometheus sees the first increment."""
    for name, held in _series(cluster):
        yield from (((name, reason), getattr(held, reason)) for reason in _LEFT_OUT)


def _queues(cluster: ClusterCounters) -> Iterable[tuple[str, Queue]]:
    return () if cluster.telemetry is None else cluster.telemetry.queues.items()


def _series(cluster: ClusterCounters) -> Iterable[tuple[str, Series]]:
    return () if cluster.telemetry is None else cluster.telemetry.series.items()


def group_states(cluster: ClusterCounters) -> Numbers:
    """Read how many hosted groups are in each state."""
    if cluster.groups is not None:
        yield from (((state,), count) for state, count in cluster.groups.states().items())


def group_members(cluster: ClusterCounters) -> Numbers:
    if cluster.groups is not None:
        yield (), cluster.groups.members()


def group_moves(cluster: ClusterCounters) -> Numbers:
    if cluster.groups is not None:
        yield from (((str(state), str(cause)), count) for (state, cause), count in cluster.groups.moves.copy().items())


def late_heartbeats(cluster: ClusterCounters) -> Numbers:
    if cluster.groups is not None:
        yield (), cluster.groups.late_heartbeats


def group_histogram(field: str) -> Rows:
    read: Callable[[Groups], Histogram] = attrgetter(field)
    return lambda cluster: iter(() if cluster.groups is None else [((), read(cluster.groups))])


def transactions_open(cluster: ClusterCounters) -> Numbers:
    if cluster.transactions is not None:
        yield (), cluster.transactions.open


def transaction_results(cluster: ClusterCounters) -> Numbers:
    if cluster.transactions is not None:
        yield from (((result,), count) for result, count in cluster.transactions.results.items())


def transactional_ids_left_out(cluster: ClusterCounters) -> Numbers:
    if cluster.transactions is not None:
        yield (), cluster.transactions.left_out


def of_accepting(field: str) -> ProcessRows:
    """Read one number of how clients are accepted."""
    read: Callable[[Accepting], int] = attrgetter(field)
    return lambda counters: iter(() if counters.accepting is None else [((), read(counters.accepting))])


def handshake_seconds(counters: Counters) -> Histograms:
    if counters.accepting is not None:
        yield (), counters.accepting.handshake_seconds


def by_destination(field: str) -> ProcessRows:
    """Read one number of each destination of the event stream."""
    read: Callable[[Queue], int] = attrgetter(field)
    return lambda counters: (((name,), read(queue)) for name, queue in counters.events.items())


def dropped_by_destination(counters: Counters) -> Numbers:
    for name, queue in counters.events.items():
        yield from _dropped(name, queue.dropped)


def log_lines_dropped(counters: Counters) -> Numbers:
    yield (), counters.log.dropped


def reloads(counters: Counters) -> Numbers:
    yield ("applied",), counters.reloads.applied
    yield ("refused",), counters.reloads.refused


def last_reload_applied(counters: Counters) -> Numbers:
    yield (), int(counters.reloads.last_applied)


def last_applied_at(counters: Counters) -> Numbers:
    yield (), counters.reloads.at


def internal_errors(counters: Counters) -> Numbers:
    return (((where,), count) for where, count in counters.troubles.errors.items())


def shortages(counters: Counters) -> Numbers:
    return (((name,), count) for name, count in counters.troubles.shortages.items())


def loop_stalls(counters: Counters) -> Numbers:
    return (((what,), count) for what, count in counters.loop_lag.stalls.items())


def loop_lag(counters: Counters) -> Lags:
    yield (), counters.loop_lag
