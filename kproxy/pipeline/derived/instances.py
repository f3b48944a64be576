"""Client instances, and which clients push their metrics, from the pushes."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output

_IDENTITY: Final = ("cluster", "client_id", "software_name", "software_version", "address", "principal")
_KEYS: Final = (*_IDENTITY, "client_instance_id")


def write(output: Output, pushes: DataFrame) -> None:
    """Bring `instances` up to date with new pushes, and `kip_714` of `clients`."""
    rows = _instances(pushes).persist()
    try:
        if not rows.isEmpty():
            output.merge(tables.INSTANCES, rows, _KEYS, _changed())
            kept = {name: f"old.{name}" for name in tables.CLIENTS.names if name not in _IDENTITY}
            seen = {name: f"{how}(new.{name}, old.{name})" for name, how in _SEEN.items()}
            output.merge(tables.CLIENTS, _clients(rows), _IDENTITY, {**kept, **seen, "kip_714": "true"})
    finally:
        rows.unpersist()


_SEEN: Final = {"first_seen": "least", "last_seen": "greatest"}


def _instances(pushes: DataFrame) -> DataFrame:
    latest = (F.max_by(name, "received_at").alias(column) for name, column in _LATEST.items())
    seen = (F.min("received_at").alias("first_seen"), F.max("received_at").alias("last_seen"))
    return pushes.groupBy(*_KEYS).agg(*seen, *latest).select(*tables.INSTANCES.names)


_LATEST: Final = {"terminating": "terminated", "clock_ahead": "clock_ahead"}


def _changed() -> dict[str, str]:
    later = "if(new.last_seen >= old.last_seen, new.{0}, old.{0})"
    seen = {name: f"{how}(new.{name}, old.{name})" for name, how in _SEEN.items()}
    return {**seen, **{name: later.format(name) for name in _LATEST.values()}}


def _clients(instances: DataFrame) -> DataFrame:
    grouped = instances.groupBy(*_IDENTITY).agg(
        F.min("first_seen").alias("first_seen"), F.max("last_seen").alias("last_seen")
    )
    unknown = {
        one.name: F.lit(None).cast(one.kind) for one in tables.CLIENTS.columns if one.name not in grouped.columns
    }
    return grouped.withColumns({**unknown, "kip_714": F.lit(True)}).select(*tables.CLIENTS.names)
