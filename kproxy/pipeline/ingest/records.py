"""What kproxy wrote, from files and topics, as rows of one shape: a JSON line, or a push of a topic, or a problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from kproxy.pipeline.ingest import lines, published
from kproxy.pipeline.ingest.inputs import FilesInput, Input, TopicInput
from kproxy.pipeline.ingest.otlp_batches import Decoder

OTLP: Final = "application/x-protobuf"
"""What the content type of a push begins with."""
_HEADERS: Final = [field for field in published.pushes() if field.name not in ("received_at", "resource", "metrics")]
"""The fields of a push that are headers of its record."""
_CONSTANT: Final = "map<string,string>"
_ROWS: Final = lines.RECORDS.append(pa.field("push", pa.struct(published.arrow_pushes()))).append(
    pa.field("constant", pa.map_(pa.string(), pa.string()))
)


def read(
    session: SparkSession, inputs: Iterable[Input], *, files_a_batch: int, records_a_batch: int, accept_loss: bool
) -> DataFrame:
    """Return the stream of all inputs: `lines.RECORDS`, and for a push that is not a line `push` and `constant`.

    `constant` has the headers that are not of `published.pushes`. With `accept_loss` it goes on when records of a topic
    are gone before they were read.
    """
    streams = [
        _files(session, one, files_a_batch)
        if isinstance(one, FilesInput)
        else _topic(session, one, records_a_batch, accept_loss)
        for one in inputs
    ]
    return reduce(lambda one, other: one.unionByName(other), streams)


def _files(session: SparkSession, directory: FilesInput, files_a_batch: int) -> DataFrame:
    content = (
        session.readStream.format("binaryFile")
        .schema("path string, modificationTime timestamp, length bigint, content binary")
        .option("recursiveFileLookup", True)
        .option("maxFilesPerTrigger", files_a_batch)
        # Spark leaves out files that are a week older than the newest it knows, without a word.
        .option("maxFileAge", "36500d")
        .load(directory.directory)
        .select("path", "content")
    )
    rows = content.mapInArrow(lines.records, from_arrow_schema(lines.RECORDS))
    nothing = {"push": published.pushes(), "constant": _CONSTANT}
    return rows.withColumns({name: F.lit(None).cast(kind) for name, kind in nothing.items()})


def _topic(session: SparkSession, topic: TopicInput, records_a_batch: int, accept_loss: bool) -> DataFrame:
    header = "try_element_at(filter(headers, h -> h.key = '{0}'), -1).value"
    records = (
        session.readStream.format("kafka")
        .option("kafka.bootstrap.servers", topic.servers)
        .option("subscribe", topic.topic)
        .option("startingOffsets", "earliest")
        .option("includeHeaders", True)
        .option("failOnDataLoss", not accept_loss)
        .option("maxOffsetsPerTrigger", records_a_batch)
        .load()
        .select(
            F.concat_ws("-", "topic", "partition").alias("origin"),
            F.col("offset").alias("position"),
            "value",
            F.date_format("timestamp", "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").alias("received_at"),
            F.expr(f"cast({header.format('content-type')} as string)").alias("content-type"),
            *(
                F.expr(
                    f"try_cast(cast({header.format(field.name)} as string) as {field.dataType.simpleString()})"
                ).alias(field.name)
                for field in _HEADERS
            ),
            _other_headers().alias("constant"),
        )
    )
    return records.mapInArrow(_decoded, from_arrow_schema(_ROWS))


def _other_headers() -> Column:
    """The headers that are neither fields of a push nor its content type: of those with one name the last one."""
    known = ", ".join(f"'{name}'" for name in ("content-type", *(field.name for field in _HEADERS)))
    names = f"array_distinct(transform(filter(headers, h -> h.key not in ({known})), h -> h.key))"
    value = "make_valid_utf8(cast(try_element_at(filter(headers, h -> h.key = name), -1).value as string))"
    return F.expr(f"map_from_arrays({names}, transform({names}, name -> {value}))")


def _decoded(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield pushes as they are read by a decoder, and events as lines."""
    decoder = Decoder()
    for batch in batches:
        otlp = pc.fill_null(pc.starts_with(batch["content-type"], OTLP), False)
        pushes, others = batch.filter(otlp), batch.filter(pc.invert(otlp))
        if len(others):
            yield _lines(others)
        if len(pushes):
            yield from _pushes(decoder, pushes)


def _lines(records: pa.RecordBatch) -> pa.RecordBatch:
    texts = pa.array([_text(value) for value in records["value"].to_pylist()], pa.string())
    problems = pc.if_else(texts.is_null(), "neither OTLP (content-type) nor UTF-8", None)
    return _rows(records, line=texts, problem=problems, raw=pc.if_else(texts.is_null(), records["value"], None))


def _text(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _pushes(decoder: Decoder, records: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    payloads = [value or b"" for value in records["value"].to_pylist()]
    decoded, broken = decoder.decode(payloads)
    wanted = published.arrow_pushes()
    for some in decoded:
        these = records.take(pa.array(some.pushes))
        columns: dict[str, Any] = {name: these[name] for name in ("received_at", *(field.name for field in _HEADERS))}
        columns |= {"resource": some.resources, "metrics": some.points}
        arrays = [columns[field.name].cast(field.type) for field in wanted]
        push = pa.StructArray.from_arrays(arrays, fields=list(wanted))
        yield _rows(these, push=push, constant=these["constant"].cast(_ROWS.field("constant").type))
    if broken:
        these = records.take(pa.array(broken))
        raw = pa.array([payloads[place] for place in broken], pa.binary())
        yield _rows(these, problem=pa.array(broken.values(), pa.string()), raw=raw)


def _rows(records: pa.RecordBatch, **columns: pa.Array) -> pa.RecordBatch:
    """Return rows with origin and position of the records, and the given columns; the others are null."""
    given = {"origin": records["origin"], "position": records["position"], **columns}
    return pa.RecordBatch.from_arrays(
        [given[field.name] if field.name in given else pa.nulls(len(records), field.type) for field in _ROWS],
        schema=_ROWS,
    )
