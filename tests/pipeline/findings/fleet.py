"""Rows of the pipeline's tables, as a fleet of clients leaves them; only what is said differs from null."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pyspark.sql import SparkSession

from kproxy.observe.events import AdmissionRefused, encode
from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output

UNTIL: Final = datetime(2026, 9, 22, tzinfo=UTC)
SINCE: Final = UNTIL - timedelta(days=1)
DAY: Final = timedelta(days=1)
PUSHES: Final = 96
"""Of an instance in a day: one each quarter of an hour."""
Curve = Callable[[float], float]
"""A value by the part of the day, from 0 to 1."""


def at(part: float) -> datetime:
    """A time of the day."""
    return SINCE + part * DAY


def hours(*given: float) -> list[datetime]:
    """Times of the day by their hours."""
    return [SINCE + timedelta(hours=hour) for hour in given]


class Fleet:
    """Collects rows, and writes them as Delta tables with the columns of the contract."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = {name: [] for name in tables.TABLES}
        self._random = random.Random(7)

    def add(self, table: str, **columns: Any) -> None:
        """Add a row."""
        assert columns.keys() <= set(tables.TABLES[table].names), columns.keys()
        self.rows[table].append(columns)

    def near(self, value: float, share: float = 0.1) -> float:
        """A value with noise."""
        return value * self._random.uniform(1 - share, 1 + share)

    def gauge(
        self,
        cluster: str,
        client: str,
        metric: str,
        curve: Curve,
        *,
        instance: int = 0,
        labels: dict[str, str] | None = None,
        pushes: int = PUSHES,
        temporality: str | None = None,
    ) -> None:
        """A metric of an instance over the day; with a temporality it is a sum."""
        for number in range(pushes):
            when = at((number + 0.5) / pushes)
            self.add(
                "points",
                **self._who(cluster, client, instance),
                date=when.date(),
                time=when,
                received_at=when,
                resource={"group_id": f"group-of-{client}"},
                metric=metric,
                type="sum" if temporality else "gauge",
                temporality=temporality,
                labels=labels or {},
                value=self.near(curve((number + 0.5) / pushes)),
            )

    def pushes(
        self,
        cluster: str,
        client: str,
        times: Iterable[datetime],
        *,
        instance: int = 0,
        clock: float = 0.01,
        closed: bool = False,
    ) -> None:
        """Pushes of an instance; `closed`: the last one says that it is."""
        every = list(times)
        for when in every:
            self.add(
                "pushes",
                **self._who(cluster, client, instance),
                port=40_000 + instance,
                date=when.date(),
                received_at=when,
                points=30,
                terminating=closed and when == every[-1],
                clock_ahead=self.near(clock),
            )

    def connection(
        self, cluster: str, client: str | None, since: datetime, seconds: float | None, **columns: Any
    ) -> None:
        """A connection; without `seconds` it lasts until the end of the day."""
        ended = None if seconds is None else since + timedelta(seconds=seconds)
        given = {
            "proxy": "proxy-1",
            "address": "10.0.0.1",
            "port": 40_000,
            "node": 1,
            "last_seen": ended or UNTIL,
            "reason": None if ended is None else "client_closed",
            "bytes_in": 1_000_000,
            "bytes_out": 1_000_000,
            **columns,
        }
        number = len(self.rows["connections"])
        self.add(
            "connections",
            cluster=cluster,
            client_id=client,
            connection=number,
            date=since.date(),
            since=since,
            ended=ended,
            seconds=seconds,
            **given,
        )

    def refused(self, cluster: str, address: str, when: datetime, reason: str, left_out: int = 0) -> None:
        """A client that was not let in, as kproxy writes it."""
        event = AdmissionRefused(address, None, None, reason, None, left_out)
        payload = encode(event, when.timestamp(), "proxy-1", cluster, len(self.rows["events"])).payload.decode()
        written = {"event": str(event.name), "proxy": "proxy-1", "cluster": cluster, "json": payload}
        self.add("events", date=when.date(), at=when, **written)

    def traffic(self, cluster: str, client: str, hour: datetime, **columns: Any) -> None:
        """What passed in an hour."""
        self.add("traffic", cluster=cluster, client_id=client, date=hour.date(), hour=hour, connections=1, **columns)

    def client(self, cluster: str, client: str, **columns: Any) -> None:
        """A client that was there all day."""
        given = {
            "software_name": "apache-kafka-java",
            "software_version": "4.2.0",
            "address": "10.0.0.1",
            "first_seen": SINCE,
            "last_seen": UNTIL - timedelta(minutes=1),
            "metadata_version": 13,
            "rebootstrap": "129",
            "kip_1242": True,
            **columns,
        }
        self.add("clients", cluster=cluster, client_id=client, **given)

    def rebalance(self, cluster: str, group: str, began: datetime, seconds: float, **columns: Any) -> None:
        """A rebalance that has ended."""
        given = {"cause": "member_joined", "client_id": "member-1", "members": 4, "late": "member-2", **columns}
        ended = began + timedelta(seconds=seconds)
        self.add(
            "group_rebalances",
            cluster=cluster,
            group=group,
            date=began.date(),
            began=began,
            ended=ended,
            seconds=seconds,
            **given,
        )

    def write(self, spark: SparkSession, place: str) -> Output:
        """Write all tables."""
        output = Output(spark, place)
        for table in tables.TABLES.values():
            output.create([table])
            if rows := [_values(table, row) for row in self.rows[table.name]]:
                frame = spark.createDataFrame(rows, table.schema).coalesce(1)
                frame.write.format("delta").mode("append").save(output.path(table.name))
        return output

    def _who(self, cluster: str, client: str, instance: int) -> dict[str, Any]:
        return {
            "cluster": cluster,
            "client_id": client,
            "client_instance_id": f"{cluster} {client} {instance}",
            "software_name": "apache-kafka-java",
            "software_version": "4.2.0",
            "address": f"10.0.0.{instance + 1}",
            "proxy": "proxy-1",
        }


def _values(table: tables.Table, row: dict[str, Any]) -> tuple[Any, ...]:
    """Spark takes no whole number for a double."""
    given = ((row.get(column.name), column.kind) for column in table.columns)
    return tuple(float(value) if kind == "double" and value is not None else value for value, kind in given)
