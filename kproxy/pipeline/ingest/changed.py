"""Files that changed after they were read: what was added is not read, and `quarantine` says so.

kproxy shows a file when it is complete. Whoever writes other files into the directory must do the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output, selected
from kproxy.pipeline.ingest.inputs import FilesInput


def note(output: Output, directories: Iterable[FilesInput], checkpoint: str) -> None:
    """Add a row to `quarantine` for each change that is not there yet."""
    try:
        read = _read(output, checkpoint)
    except AnalysisException:
        return  # there is no checkpoint yet
    known = output.read(tables.QUARANTINE).select("origin", "reason")
    for directory in directories:
        later = _files(output, directory).join(read, "origin").where("modified > read_as_of")
        rows = later.withColumn("reason", _reason()).join(known, ["origin", "reason"], "left_anti")
        rows = selected(rows, tables.QUARANTINE, {"read_at": F.now(), "date": F.to_date(F.now())})
        if not rows.isEmpty():
            output.add(tables.QUARANTINE, rows)


def _read(output: Output, checkpoint: str) -> DataFrame:
    """The files that were read, as Spark's checkpoint lists them, and the time of their last change then."""
    lines = output.session.read.text(f"{checkpoint}/sources/*/*").where("value LIKE '{\"path\"%'")
    entry = F.from_json("value", "path string, timestamp bigint")
    path = F.url_decode(F.replace(F.col("entry.path"), F.lit("+"), F.lit("%2B")))
    read = lines.select(entry.alias("entry")).select(path.alias("origin"), F.col("entry.timestamp").alias("at"))
    # The same file is file:///… in the checkpoint, and file:/… in a table.
    read = read.withColumn("origin", F.regexp_replace("origin", "^file:/+", "file:/"))
    return read.groupBy("origin").agg(F.max(F.timestamp_millis("at")).alias("read_as_of"))


def _files(output: Output, directory: FilesInput) -> DataFrame:
    files = output.session.read.format("binaryFile").option("recursiveFileLookup", True).load(directory.directory)
    return files.select(F.col("path").alias("origin"), F.col("modificationTime").alias("modified"))


def _reason() -> Column:
    return F.concat(
        F.lit("the file changed at "),
        F.date_format("modified", "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"),
        F.lit(", after it was read: what was added is not read; give a file its name when it is complete"),
    )
