"""Keeps tables small and quick: what is older than its time goes, small files become large ones, old files go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final

from delta.tables import DeltaTable

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.errors import PipelineError

KEEP: Final[Mapping[str, int]] = MappingProxyType(
    {
        tables.POINTS.name: 30,
        tables.PUSHES.name: 30,
        tables.EVENTS.name: 90,
        tables.CONNECTIONS.name: 90,
        tables.ROLLUP_1M.name: 90,
        tables.QUARANTINE.name: 90,
    }
)
"""Days; `REST` for the others that have a date. Tables without one, as `clients`, are kept whole."""
REST: Final = 400
_UNREAD_HOURS: Final = 7 * 24
"""As long as Delta itself asks for: readers of an older version, and time travel, need the files of that time."""


def keep(given: str) -> tuple[str, int]:
    """Return table and days of "points=14d"; raises `PipelineError`."""
    match = re.fullmatch(r"(\w+)=([1-9]\d{0,4})d", given)
    if match is None or match[1] not in tables.TABLES or not tables.TABLES[match[1]].partitioned:
        known = ", ".join(name for name, table in tables.TABLES.items() if table.partitioned)
        raise PipelineError(f"keep {given!r}: expected TABLE=DAYS as points=14d, of one of the tables {known}")
    return match[1], int(match[2])


def maintain(output: Output, today: date, kept: Mapping[str, int]) -> Iterator[str]:
    """Maintain each table and yield a line about it; `kept` are the days that differ from `KEEP`."""
    for table in tables.TABLES.values():
        if output.has(table):
            days = kept.get(table.name, KEEP.get(table.name, REST))
            yield _one(output, table, today - timedelta(days=days))


def _one(output: Output, table: tables.Table, first: date) -> str:
    it = DeltaTable.forPath(output.session, output.path(table.name))
    old = f"date < DATE'{first}'"
    said = []
    if table.partitioned and not output.read(table).where(old).isEmpty():
        output.delete_before(table, first)
        said.append(f"all before {first} is gone")
    metrics = it.optimize().executeCompaction().select("metrics.*").first()
    if metrics and metrics["numFilesRemoved"]:
        said.append(f"{metrics['numFilesRemoved']} files are now {metrics['numFilesAdded']}")
    it.vacuum(_UNREAD_HOURS)
    return f"{table.name}: {'; '.join(said) or 'nothing to do'}"
