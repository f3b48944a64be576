"""Which hours and days new rows concern, as conditions for reading and for replacing."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

_FIRST, _LAST = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000 for year in (1000, 9999))
"""Unix microseconds: of all years of Spark's, these are the ones that Python knows, and writes with four digits."""


def starts(rows: DataFrame, time: str | Column, unit: str) -> list[datetime]:
    """Return the beginnings of the hours, or minutes, of the rows' times, in order, in UTC.

    Those before the year 1000 and from 9999 on are left out.
    """
    each = rows.select(F.unix_micros(F.date_trunc(unit, time)).alias("start"))
    found = each.where(F.col("start").between(_FIRST, _LAST)).distinct()
    return sorted(datetime.fromtimestamp(row["start"] // 1_000_000, UTC) for row in found.collect())


def is_one_of(column: str, times: Iterable[datetime]) -> str:
    """Return the SQL condition that a timestamp is one of these."""
    return f"{column} IN ({', '.join(sql(time) for time in times)})"


def on_days(times: Iterable[datetime]) -> str:
    """Return the SQL condition that the partition `date` is the day of one of these times."""
    days = sorted({f"DATE'{time:%Y-%m-%d}'" for time in times})
    return f"date IN ({', '.join(days)})"


def sql(time: datetime) -> str:
    """Return a time as Spark SQL writes it."""
    return f"TIMESTAMP'{time.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}+00:00'"
