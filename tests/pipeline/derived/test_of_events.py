"""kproxy.pipeline.derived: what follows from events is right, however they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kproxy.observe.events import (
    ClientConnected,
    ClientDisconnected,
    ClientPresent,
    ClientsRebootstrap,
    ErrorAnswered,
    Event,
    GroupTransition,
    UpstreamPassedOver,
    encode,
    iso,
)
from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.derived.job import Derivation
from kproxy.pipeline.ingest import job
from kproxy.pipeline.ingest.inputs import FilesInput

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BEGAN = 1_790_000_000 - 1_790_000_000 % 3600
"""The beginning of an hour."""
JAVA = ("apache-kafka-java", "4.1.0")
Timed = tuple[float, str, Event]
"""Seconds after BEGAN, the proxy, the event."""
Numbered = tuple[float, str, Event, int]
"""The same with the event's number, where others are of the same moment."""


def who(
    number: int, since: float, client_id: str, software: tuple[str, str], rebootstrap: str, kip_1242: bool | None = None
) -> dict[str, Any]:
    """The fields that the events of a connection have in common."""
    return {
        "connection": number,
        "since": iso(BEGAN + since),
        "address": "10.0.0.1",
        "port": 4000 + number,
        "node": 1,
        "broker": "b:9092",
        "client_id": client_id,
        "software_name": software[0],
        "software_version": software[1],
        "principal": None,
        "metadata_version": 13,
        "rebootstrap": rebootstrap,
        "kip_1242": kip_1242,
    }


def so_far(requests: int, responses: int, bytes_in: int, bytes_out: int) -> dict[str, Any]:
    """What a connection did until an event."""
    return {"requests": requests, "responses": responses, "bytes_in": bytes_in, "bytes_out": bytes_out}


def connections() -> Iterator[Timed]:
    """One that ends in the third hour; one of an old client, still open; one that is there for a second."""
    first = who(1, 0, "app", JAVA, "129")  # to a bootstrap server, where it names nothing
    yield 1, "p0", ClientConnected(**first)
    for turn in range(1, 8):
        yield 900 * turn, "p0", ClientPresent(**first, **so_far(10 * turn, 10 * turn, 1000 * turn, 2000 * turn))
    end: dict[str, Any] = {"reason": "client_closed", "detail": None, "seconds": 7300.0}
    yield 7300, "p0", ClientDisconnected(**first, **so_far(77, 77, 7700, 15_000), **end)
    old = who(1, 5, "old", ("apache-kafka-java", "2.8.0"), "no", kip_1242=False)
    yield 6, "p1", ClientConnected(**old)
    yield 3605, "p1", ClientPresent(**old, **so_far(5, 4, 50, 40))
    short = who(9, 100, "app", JAVA, "129", kip_1242=True)
    yield 100, "p0", ClientConnected(**short)
    end = {"reason": "client_reset", "detail": "by peer", "seconds": 1.0}
    yield 101, "p0", ClientDisconnected(**short, **so_far(2, 2, 20, 30), **end)


def groups() -> Iterator[Timed]:
    """A rebalance with a late member, one that begins again, and one that lasts; a move at rest is none of them."""

    def went(at: float, before: str, state: str, cause: str, late: tuple[str, ...] = (), generation: int = 1) -> Timed:
        return at, "p0", GroupTransition("g", generation, before, state, cause, f"by-{cause}", 3, late, 1.0)

    yield went(10, "Empty", "PreparingRebalance", "member_joined")
    yield went(13, "PreparingRebalance", "CompletingRebalance", "all_joined", ("c2", "c7"))
    yield went(14, "CompletingRebalance", "Stable", "assigned")
    yield went(3700, "Stable", "PreparingRebalance", "session_timeout", generation=1)
    yield went(3701, "PreparingRebalance", "CompletingRebalance", "all_joined", ("c1",), generation=2)
    yield went(3702, "CompletingRebalance", "PreparingRebalance", "member_joined", generation=2)
    yield went(3762, "PreparingRebalance", "CompletingRebalance", "all_joined", ("c1", "c3"), generation=3)
    yield went(3763, "CompletingRebalance", "Stable", "assigned", generation=3)
    yield went(3800, "Stable", "Empty", "member_left", generation=3)
    yield went(9000, "Empty", "PreparingRebalance", "member_joined", generation=3)


def others() -> Iterator[Timed]:
    """Errors of two hours, and an epoch that rose."""
    client = {key: value for key, value in who(1, 0, "app", JAVA, "129").items() if key in ErrorAnswered.__slots__}
    error: dict[str, Any] = {
        "error_code": 29,
        "error": "TOPIC_AUTHORIZATION_FAILED",
        "error_class": "invalid-configuration",
    }
    request: dict[str, Any] = {"api": "Produce", "api_version": 9, "topic": "orders", "group": None}
    for at, left_out in ((20.0, 0), (30.0, 4), (3650.0, 0)):
        yield at, "p0", ErrorAnswered(**client, **request, **error, left_out=left_out)
    yield 4000, "p0", ClientsRebootstrap("failover", 2, 9, "b", "a", None, None)


EVENTS = [*connections(), *groups(), *others()]


@pytest.fixture
def written(spark: SparkSession, tmp_path: Path) -> Callable[..., Output]:
    """Return the output of a job that is run once for each of the batches of events."""

    def write(*batches: Iterable[Timed | Numbered]) -> Output:
        place = tmp_path / str(len(list(tmp_path.iterdir())))
        output = Output(spark, str(place / "tables"))
        (place / "in").mkdir(parents=True)
        for number, batch in enumerate(batches):
            lines = (
                encode(event, BEGAN + at, proxy, "main", *(number or (0,))).payload + b"\n"
                for at, proxy, event, *number in batch
            )
            (place / "in" / f"events-{number}.json").write_bytes(b"".join(lines))
            assert job.Job(output, [FilesInput(str(place / "in"))]).start(None).awaitTermination(120)
            Derivation(output).run()
        return output

    return write


def rows(output: Output, table: tables.Table, *columns: str, where: str = "true") -> list[tuple[Any, ...]]:
    """The rows of a table, sorted; times are seconds after BEGAN."""
    times = {one.name for one in table.columns if one.kind == "timestamp"}
    wanted = [
        f"unix_millis({name}) / 1000 - {BEGAN} AS {name}" if name in times else f"`{name}`"
        for name in columns or table.names
    ]
    return sorted((tuple(row) for row in output.read(table).where(where).selectExpr(*wanted).collect()), key=str)


def test_each_table(written: Callable[..., Output]) -> None:
    """What was written at once is counted by hand."""
    output = written(EVENTS)
    assert rows(output, tables.CONNECTIONS, "client_id", "since", "last_seen", "ended", "reason", "requests") == [
        ("app", 0.0, 7300.0, 7300.0, "client_closed", 77),
        ("app", 100.0, 101.0, 101.0, "client_reset", 2),
        ("old", 5.0, 3605.0, None, None, 5),
    ]
    assert rows(output, tables.CLIENTS, "client_id", "first_seen", "last_seen") == [
        ("app", 0.0, 7300.0),
        ("old", 5.0, 3605.0),
    ]
    assert rows(output, tables.CLIENTS, "client_id", "kip_714", "kip_899", "kip_1102", "kip_1242") == [
        ("app", False, True, True, True),
        ("old", False, False, False, False),
    ]
    assert rows(output, tables.TRAFFIC, "client_id", "hour", "connections", "requests", "bytes_in", "bytes_out") == [
        ("app", 0.0, 2, 30 + 2, 3000 + 20, 6000 + 30),
        ("app", 3600.0, 1, 40, 4000, 8000),
        ("app", 7200.0, 1, 7, 700, 1000),
        ("old", 3600.0, 1, 5, 50, 40),
    ]
    assert rows(output, tables.ERRORS_BY_CLASS, "hour", "api", "topic", "errors", "first_at", "last_at") == [
        (0.0, "Produce", "orders", 6, 20.0, 30.0),
        (3600.0, "Produce", "orders", 1, 3650.0, 3650.0),
    ]
    shown = ("began", "ended", "seconds", "generation", "cause", "client_id", "waited_for", "late")
    assert rows(output, tables.GROUP_REBALANCES, *shown) == [
        (10.0, 14.0, 4.0, 1, "member_joined", "by-member_joined", ["c2", "c7"], "c7"),
        (3700.0, 3763.0, 63.0, 3, "session_timeout", "by-session_timeout", ["c1", "c3"], "c3"),
        (9000.0, None, None, None, "member_joined", "by-member_joined", [], None),
    ]
    assert rows(output, tables.TOPOLOGY, "at", "event", "cause", "epoch", "previous_upstream") == [
        (4000.0, "clients_rebootstrap", "failover", 2, "a"),
    ]


def test_in_any_order_and_twice(written: Callable[..., Output]) -> None:
    """Events that come late, out of order or again lead to the same tables."""
    in_order, backwards = written(EVENTS), written(EVENTS[::-3], EVENTS[-2::-3], EVENTS[:12], EVENTS[-3::-3])
    for table in (one for one in tables.DERIVED if one not in (tables.ROLLUP_1M, tables.ROLLUP_1H)):
        assert rows(backwards, table) == rows(in_order, table), table.name


def test_errors_of_one_response(written: Callable[..., Output]) -> None:
    """Each counts, though all their fields are the same; one that a topic holds twice does not."""
    (at, proxy, error), *_ = others()
    output = written([(at, proxy, error, number) for number in (1, 2, 3, 2)])
    assert rows(output, tables.ERRORS_BY_CLASS, "topic", "errors") == [("orders", 3)]


def test_numbers_without_a_sum(written: Callable[..., Output]) -> None:
    """What passed is unknown then; of errors, those are counted that were written. The other rows are as ever."""
    most = 2**63 - 1
    so_much = so_far(most, 1, most, most)
    present = [ClientPresent(**who(number, 5, "large", JAVA, "129"), **so_much) for number in (1, 2)]
    (at, proxy, error), *_ = others()
    assert isinstance(error, ErrorAnswered)
    alike = [replace(error, topic="large", left_out=left_out) for left_out in (most, most - 1, most - 1)]
    errors = [(at, proxy, each, number) for number, each in enumerate(alike)]
    output = written([*others(), *((10, "p9", each) for each in present), *errors])
    assert rows(output, tables.TRAFFIC, "requests", "responses", "bytes_in") == [(None, 2, None)]
    assert rows(output, tables.ERRORS_BY_CLASS, "topic", "errors") == [("large", 3), ("orders", 1), ("orders", 6)]


def test_two_candidates_of_one_moment(written: Callable[..., Output]) -> None:
    """Each that a failover passes over has its row."""
    output = written([(9, "p0", UpstreamPassedOver("a", name, "it is away")) for name in ("b", "c", "b")])
    assert rows(output, tables.TOPOLOGY, "at", "candidate") == [(9.0, "b"), (9.0, "c")]


def test_errors_whose_hour_has_been_forgotten(written: Callable[..., Output]) -> None:
    """A late event of days that `events` no longer has takes nothing away from what was counted then."""
    output = written(EVENTS)
    before = rows(output, tables.ERRORS_BY_CLASS), rows(output, tables.TRAFFIC)
    output.delete_before(tables.EVENTS, date.fromtimestamp(BEGAN) + timedelta(days=2))
    assert output.read(tables.EVENTS).isEmpty()
    (at, proxy, error), *_ = others()
    assert isinstance(error, ErrorAnswered)
    place = Path(output.place).parent / "in" / "late.json"
    late = (at, replace(error, topic="payments")), (at, error)
    place.write_bytes(b"".join(encode(each, BEGAN + when, proxy, "main", 5).payload + b"\n" for when, each in late))
    assert job.Job(output, [FilesInput(str(place.parent))]).start(None).awaitTermination(120)
    Derivation(output).run()
    assert rows(output, tables.TRAFFIC) == before[1]
    assert rows(output, tables.ERRORS_BY_CLASS, where="topic = 'orders'") == before[0]
    assert rows(output, tables.ERRORS_BY_CLASS, "errors", where="topic = 'payments'") == [(1,)]
