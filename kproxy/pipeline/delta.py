"""Reading and writing Delta tables of an output directory, or URI."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from kproxy.pipeline import tables
from kproxy.pipeline.errors import PipelineError

_VERSION = "kproxy.pipeline.version"
_KEPT_FROM = "kproxy.pipeline.kept_from.{}"
"""By the name of the table whose rows were deleted; of `MARKED`."""
MARKED = tables.ROLLUP_1H
"""The table whose properties change while a job runs. Delta would refuse what a stream appends to its own meanwhile."""
_AT_ONCE = 4
"""Tables to create or check at the same time."""


@dataclass(frozen=True, slots=True)
class Made:
    """How rows are made of a table: by which columns they differ, and which one says of how much each is."""

    source: tables.Table
    keys: tuple[str, ...]
    counted: str


@dataclass(frozen=True, slots=True)
class Output:
    """The tables in a directory or at a URI."""

    session: SparkSession
    place: str

    def path(self, name: str) -> str:
        """Where a table is."""
        return f"{self.place.rstrip('/')}/{name}"

    def read(self, table: tables.Table) -> DataFrame:
        """A table as it is now."""
        return self.session.read.format("delta").load(self.path(table.name))

    def create(self, every: Iterable[tables.Table]) -> None:
        """Create the tables that are missing; raise `PipelineError` when one is of another version."""
        with ThreadPoolExecutor(_AT_ONCE) as threads:  # each waits for Spark most of the time
            list(threads.map(self._there, every))

    def _there(self, table: tables.Table) -> None:
        if not self.has(table):
            self._create(table)
        self._check(table)

    def require(self, every: Iterable[tables.Table]) -> None:
        """Raise `PipelineError` when a table is missing, or of another version."""
        for table in every:
            if not self.has(table):
                raise PipelineError(
                    f"output {self.place}: there is no table {table.name}; name the --output of a `kproxy pipeline run`"
                )
            self._check(table)

    def has(self, table: tables.Table) -> bool:
        """True when the table is there."""
        return bool(DeltaTable.isDeltaTable(self.session, self.path(table.name)))

    def _create(self, table: tables.Table) -> None:
        bounded = f", 'delta.dataSkippingStatsColumns' = '{','.join(table.bounded)}'" if table.bounded else ""
        self.session.sql(
            f"CREATE TABLE IF NOT EXISTS delta.`{self.path(table.name)}` ({table.ddl}) USING delta "
            f"{'PARTITIONED BY (date) ' if table.partitioned else ''}"
            f"TBLPROPERTIES ('{_VERSION}' = '{tables.VERSION}'{bounded}) COMMENT '{table.help}'"
        )

    def properties(self, table: tables.Table) -> dict[str, str]:
        """Return the properties of a table."""
        found = self.session.sql(f"SHOW TBLPROPERTIES delta.`{self.path(table.name)}`").collect()
        return {row["key"]: row["value"] for row in found}

    def set_properties(self, table: tables.Table, properties: Mapping[str, str]) -> None:
        """Add properties to a table, or change them."""
        given = ", ".join(f"'{name}' = '{_quoted(value)}'" for name, value in properties.items())
        self.session.sql(f"ALTER TABLE delta.`{self.path(table.name)}` SET TBLPROPERTIES ({given})")

    def _check(self, table: tables.Table) -> None:
        version = self.properties(table).get(_VERSION)
        if version != str(tables.VERSION):
            raise PipelineError(
                f"output {self.place}: table {table.name} is of version {version}, and this pipeline "
                f"writes {tables.VERSION}; use another directory, or the kproxy that wrote it"
            )

    def append(self, table: tables.Table, rows: DataFrame, writer: str, number: int) -> None:
        """Append the rows of the batch `number` of a writer; leave them out when the table has this batch already."""
        (
            rows.write.format("delta")
            .mode("append")
            .option("txnAppId", writer)
            .option("txnVersion", number)
            .save(self.path(table.name))
        )

    def add(self, table: tables.Table, rows: DataFrame) -> None:
        """Append rows that are of no batch."""
        rows.write.format("delta").mode("append").save(self.path(table.name))

    def delete_before(self, table: tables.Table, first: date) -> None:
        """Delete the rows of earlier days, and remember that: before, so that a job that is cut off knows it, too."""
        if self.has(MARKED):
            self.set_properties(MARKED, {_KEPT_FROM.format(table.name): first.isoformat()})
        DeltaTable.forPath(self.session, self.path(table.name)).delete(f"date < DATE'{first}'")

    def renew(self, table: tables.Table, rows: DataFrame, where: str, made: Made) -> None:
        """Put rows, made anew of all that their source has, in the place of those for which `where` holds.

        The source may have lost what rows of old days were made of: those stay unless the new one of their key counts
        more.
        """
        kept_from = self.properties(MARKED).get(_KEPT_FROM.format(made.source.name))
        if kept_from is None:
            self.replace(table, rows, where)
            return
        is_whole = f"date >= DATE'{kept_from}'"
        self.replace(table, rows.where(is_whole), f"{is_whole} AND {where}")
        late = rows.where(f"NOT ({is_whole})")
        if not late.isEmpty():
            more = f"new.`{made.counted}` > old.`{made.counted}`"
            others = (name for name in table.names if name not in made.keys)
            self.merge(table, late, made.keys, {name: f"if({more}, new.`{name}`, old.`{name}`)" for name in others})

    def replace(self, table: tables.Table, rows: DataFrame, where: str) -> None:
        """Put rows in the place of those for which `where` holds; it must hold for the new ones, too."""
        rows.write.format("delta").mode("overwrite").option("replaceWhere", where).save(self.path(table.name))

    def merge(self, table: tables.Table, rows: DataFrame, keys: Iterable[str], changed: Mapping[str, str]) -> None:
        """Insert rows with new keys; set the columns of others to expressions of `old` and `new`.

        A column that is neither a key nor among `changed` takes the new value.
        """
        keys = tuple(keys)
        same = " AND ".join(f"old.`{key}` <=> new.`{key}`" for key in keys)
        values = {name: changed.get(name, f"new.`{name}`") for name in table.names if name not in keys}
        (
            DeltaTable.forPath(self.session, self.path(table.name))
            .alias("old")
            .merge(rows.alias("new"), same)
            .whenMatchedUpdate(set={f"`{name}`": value for name, value in values.items()})
            .whenNotMatchedInsertAll()
            .execute()
        )


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")


def selected(source: DataFrame, table: tables.Table, made: Mapping[str, Column]) -> DataFrame:
    """Return the columns of a table, in its order: those that are made, the others as the source has them, or null."""
    kept = {name: F.col(name) for name in source.columns}
    missing = {one.name: F.lit(None).cast(one.kind) for one in table.columns}
    columns = {**missing, **kept, **made}
    return source.select(*(columns[name].alias(name) for name in table.names))
