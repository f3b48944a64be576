"""Connections, and the clients that they belong to, from the events of clients."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output

_KEYS: Final = ("date", "proxy", "connection", "since")
_IDENTITY: Final = ("cluster", "client_id", "software_name", "software_version", "address", "principal")
_LATER: Final = "new.last_seen >= old.last_seen"
_COUNTED: Final = ("requests", "responses", "bytes_in", "bytes_out")
_ENDED: Final = ("ended", "reason", "detail", "seconds")


def write(output: Output, details: DataFrame) -> None:
    """Bring `connections` and `clients` up to date with new events of clients."""
    rows = _connections(details).persist()
    try:
        if not rows.isEmpty():
            output.merge(tables.CONNECTIONS, rows, _KEYS, _changed())
            output.merge(tables.CLIENTS, _clients(rows), _IDENTITY, _grown())
    finally:
        rows.unpersist()


def _connections(details: DataFrame) -> DataFrame:
    """A row for each connection of the events; `latest` are the fields of its last one."""
    of_clients = details.where("event LIKE 'client\\\\_%' AND connection IS NOT NULL")
    events = of_clients.withColumn("since", F.try_to_timestamp("since")).withColumn("date", F.to_date("since"))
    events = events.where("since IS NOT NULL")
    rest = [name for name in tables.CONNECTIONS.names if name not in {*_KEYS, *_COUNTED, *_ENDED, "last_seen"}]
    latest = F.max_by(F.struct(*rest), "at").alias("latest")
    ended = F.max_by(F.struct(F.col("at").alias("ended"), *_ENDED[1:]), F.when(_is_end(), F.col("at"))).alias("end")
    counted = (F.max(name).alias(name) for name in _COUNTED)
    grouped = events.groupBy(*_KEYS).agg(F.max("at").alias("last_seen"), latest, ended, *counted)
    return grouped.select(*_KEYS, "last_seen", "latest.*", "end.*", *_COUNTED).select(*tables.CONNECTIONS.names)


def _is_end() -> Column:
    return F.col("event") == "client_disconnected"


def _changed() -> dict[str, str]:
    """Events may come late: what is known of the end stays, counters do not fall, and the last one says the rest."""
    later = {name: f"if({_LATER}, new.`{name}`, old.`{name}`)" for name in tables.CONNECTIONS.names}
    ended = {name: f"coalesce(new.`{name}`, old.`{name}`)" for name in _ENDED}
    counted = {name: f"greatest(new.`{name}`, old.`{name}`)" for name in (*_COUNTED, "last_seen")}
    return {name: how for name, how in {**later, **ended, **counted}.items() if name not in _KEYS}


def _clients(connections: DataFrame) -> DataFrame:
    """A row for each client of the connections."""
    grouped = connections.groupBy(*_IDENTITY).agg(
        F.min("since").alias("first_seen"),
        F.max("last_seen").alias("last_seen"),
        F.max("metadata_version").alias("metadata_version"),
        F.max_by("rebootstrap", "last_seen").alias("rebootstrap"),
        F.max("kip_1242").alias("kip_1242"),
    )
    told, alone = F.col("rebootstrap") == "129", F.col("rebootstrap").isin("129", "kip-899")
    known = F.col("rebootstrap") != "unknown"
    made = {
        "kip_714": F.lit(False),
        "kip_899": F.when(known, alone),
        "kip_1102": F.when(known, told),
    }
    return grouped.withColumns(made).select(*tables.CLIENTS.names)


def _grown() -> dict[str, str]:
    later = ("rebootstrap", "kip_899", "kip_1102")
    return {
        "first_seen": "least(new.first_seen, old.first_seen)",
        "last_seen": "greatest(new.last_seen, old.last_seen)",
        "metadata_version": "greatest(new.metadata_version, old.metadata_version)",
        **{name: f"if({_LATER} OR old.rebootstrap IS NULL, new.{name}, old.{name})" for name in later},
        "kip_714": "old.kip_714",
        "kip_1242": "greatest(new.kip_1242, old.kip_1242)",
    }
