"""Input that is broken, gone, not kproxy's, or of another version: a clear error or quarantine, never a silent skip."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import TopicPartition
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.pipeline import streams, tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.ingest import job
from kproxy.pipeline.ingest.inputs import FilesInput, TopicInput
from kproxy.telemetry.payload import Push
from tests.pipeline.ingest.conftest import Run
from tests.pipeline.ingest.topic import Table, counted, created, written
from tests.pipeline.written import BEGAN, file, points, push
from tests.support.wait import until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_what_cannot_be_read_is_kept(tmp_path: Path, run: Run, table: Table) -> None:
    """Each with its place and the reason; all else is read."""
    directory = tmp_path / "in"
    whole = file(directory, [push(1, turn) for turn in range(4)])
    (directory / "cut.json.gz").write_bytes(whole.read_bytes()[:-20])
    (directory / "others.json").write_text(
        'no json\n{"a":1}\n{"event":"x","at":"2026-11-24T00:00:00.000Z","schema":2}\n{"event":"x","at":"soon"}\n'
        '{"metrics":[],"received_at":"2026-11-24T00:00:00.000Z"}\n'
    )
    run(FilesInput(str(directory)))
    found = {(Path(row["origin"]).name, row["position"]): row["reason"] for row in table("quarantine").collect()}
    assert found == {
        ("cut.json.gz", 4): "truncated gzip after 3 lines: the file ends too early",
        ("others.json", 1): "not a JSON object with the fields of kproxy",
        ("others.json", 2): "JSON, but neither a push nor an event of kproxy",
        ("others.json", 3): "schema 2: this pipeline reads 1; update it",
        ("others.json", 4): "without a time (`at` or `received_at`)",
        ("others.json", 5): "a push without client_instance_id",
    }
    assert counted(table) == Counter(points(push(1, turn) for turn in range(4)))


def test_no_input(tmp_path: Path, run: Run, table: Table) -> None:
    """Empty tables, which can be read."""
    run(FilesInput(str(tmp_path)))
    assert [table(name).count() for name in ("points", "pushes", "events", "quarantine")] == [0] * 4


def test_an_output_of_another_version(spark: SparkSession, tmp_path: Path, output: Path, run: Run) -> None:
    """It is refused before anything is written."""
    run(FilesInput(str(tmp_path)))
    spark.sql(f"ALTER TABLE delta.`{output}/events` SET TBLPROPERTIES ('kproxy.pipeline.version' = '99')")
    with pytest.raises(
        PipelineError, match=f"table events is of version 99, and this pipeline writes {tables.VERSION}"
    ):
        run(FilesInput(str(tmp_path)))


def test_a_topic_that_is_not_there(run: Run, kafka: str) -> None:
    """One line says so."""
    with pytest.raises(PipelineError, match=rf"^input kafka:{kafka}/none: there is no such topic$"):
        run(TopicInput(kafka, "none"))


def test_an_empty_topic(run: Run, table: Table, kafka: str) -> None:
    """Empty tables; what comes later is read from its first record on."""
    created(kafka, "empty")
    run(TopicInput(kafka, "empty"))
    assert table("pushes").count() == 0
    written(kafka, "empty", [push(1, 1)])
    run(TopicInput(kafka, "empty"))
    assert counted(table) == Counter(points([push(1, 1)]))


def test_records_that_are_gone(run: Run, table: Table, kafka: str) -> None:
    """Retention deleted what was not read yet: an error that says what to do; then it goes on and tells how many."""
    admin, pushes = created(kafka, "short"), [push(client, turn) for turn in range(3) for client in range(4)]
    written(kafka, "short", pushes[:4])
    run(TopicInput(kafka, "short"))
    written(kafka, "short", pushes[4:])
    (deleted,) = admin.delete_records([TopicPartition("short", 0, 9)]).values()
    deleted.result(30)
    with pytest.raises(PipelineError, match=r"^the job ended: .*gone before they were read.*--accept-loss.*$"):
        run(TopicInput(kafka, "short"))
    for _ in range(2):
        run(TopicInput(kafka, "short"), options=job.Options(accept_loss=True))
    assert counted(table) == Counter(points([*pushes[:4], *pushes[9:]]))
    (row,) = table("quarantine").collect()
    assert (row["origin"], row["position"]) == ("short-0", 4)
    assert row["reason"] == "5 records were gone before they were read: offsets 4 to 8"


def test_a_topic_made_anew(run: Run, table: Table, kafka: str) -> None:
    """Its offsets begin anew, so a job that went on would leave out its first records: it is refused."""
    admin = created(kafka, "anew")
    written(kafka, "anew", [push(1, 1)])
    run(TopicInput(kafka, "anew"))
    admin.delete_topics(["anew"])["anew"].result(30)
    until(lambda: "anew" not in admin.list_topics(timeout=10).topics, "the topic is gone")
    created(kafka, "anew")
    written(kafka, "anew", [push(1, turn) for turn in range(2, 5)])
    for loss in (False, True):
        with pytest.raises(PipelineError, match=r"^input kafka:.*/anew: .*made anew.*another output$"):
            run(TopicInput(kafka, "anew"), options=job.Options(accept_loss=loss))
    assert table("pushes").count() == 1


def test_a_file_that_changes_after_it_was_read(tmp_path: Path, run: Run, table: Table) -> None:
    """What was added is not read, and quarantine says so, once; kproxy's own files are complete when they appear."""
    directory = tmp_path / "in"
    file(directory, [push(1, 1)])
    mine = directory / "my own.json"
    mine.write_text('{"event":"x","at":"2026-11-24T00:00:00.000Z"}\n')
    run(FilesInput(str(directory)))
    with mine.open("a") as more:
        more.write('{"event":"y","at":"2026-11-24T00:00:00.000Z"}\n')
    os.utime(mine, (2_000_000_000, 2_000_000_000))
    for _ in range(2):
        run(FilesInput(str(directory)))
    assert [row["event"] for row in table("events").collect()] == ["x"]
    (row,) = table("quarantine").collect()
    assert row["origin"].endswith("/my own.json")
    assert row["reason"].startswith("the file changed at 2033-05-18T03:33:20.000Z, after it was read: ")


def test_lines_of_the_future(tmp_path: Path, run: Run, table: Table) -> None:
    """Fields that this version does not know are left out, and a kind of metric that it does not know is kept."""
    point = (
        '{"name":"m","kind":"quadratic","unit":"","new":[1],"attributes":{"topic":"t"},"value":1.5,"unix_nano":1000000}'
    )
    (tmp_path / "later.json").write_text(
        f'{{"received_at":"2026-11-24T00:00:00.000Z","client_instance_id":"i","new":{{"a":1}},"metrics":[{point}]}}\n'
    )
    run(FilesInput(str(tmp_path)))
    assert table("points").select("client_instance_id", "type", "value", "labels").collect() == [
        ("i", "quadratic", 1.5, {"topic": "t"})
    ]
    assert table("quarantine").count() == 0


_UNKNOWN = b"\xa2\x06\x03new"
"""A field of the number 100."""
_UNKNOWN_KIND = b"\n\x06future" + _UNKNOWN
"""A metric of this name, whose data is of a kind that has the number 100."""


def test_payloads_of_the_future(run: Run, table: Table, kafka: str) -> None:
    """Unknown fields change nothing; of an unknown kind of metric, quarantine has the name, and the whole push."""
    created(kafka, "future")
    pushes = [push(client, 1) for client in range(4)]
    known = [push(client, 1, _with_unknown_fields(each.payload)) for client, each in enumerate(pushes)]
    new = push(9, 1, _with_unknown_kind(push(9, 1).payload))
    written(kafka, "future", [*known, new])
    run(TopicInput(kafka, "future"))
    assert counted(table) == Counter(points([*pushes, push(9, 1)]))
    (row,) = table("quarantine").collect()
    assert row["reason"] == "metrics of a kind that this pipeline does not know, update it: future"
    assert bytes(row["raw"]) == new.payload


def _with_unknown_fields(payload: bytes) -> bytes:
    data = MetricsData.FromString(payload)
    for resource in data.resource_metrics:
        resource.MergeFromString(_UNKNOWN)
        resource.resource.MergeFromString(_UNKNOWN)
        for metric in resource.scope_metrics[0].metrics:
            metric.MergeFromString(_UNKNOWN)
            for point in getattr(metric, metric.WhichOneof("data") or "").data_points:
                point.MergeFromString(_UNKNOWN)
    encoded: bytes = data.SerializeToString()
    return encoded + _UNKNOWN


def _with_unknown_kind(payload: bytes) -> bytes:
    data = MetricsData.FromString(payload)
    data.resource_metrics[0].scope_metrics[0].metrics.add().MergeFromString(_UNKNOWN_KIND)
    encoded: bytes = data.SerializeToString()
    return encoded


@pytest.mark.parametrize("ahead", [86_400, -86_400])
def test_a_clock_that_is_wrong_by_a_day(ahead: int, tmp_path: Path, run: Run, table: Table) -> None:
    """A point has the time of its client, and is in the partition of the day on which kproxy got it."""
    right = push(1, 1)
    file(tmp_path / "in", [Push(right.info, right.received_at - ahead, right.payload)])
    run(FilesInput(str(tmp_path / "in")))
    received, own = f"timestamp_seconds({BEGAN + 30 - ahead})", f"timestamp_seconds({BEGAN + 30})"
    right_rows = table("points").where(f"time = {own} AND date = to_date({received})")
    assert right_rows.count() == table("points").count() == 6
    (row,) = table("pushes").collect()
    assert row["clock_ahead"] == ahead - 0.5


def test_two_jobs_on_one_output(output: Path) -> None:
    """The second one is refused."""
    with (
        streams.alone(str(output)),
        pytest.raises(PipelineError, match="another job writes there"),
        streams.alone(streams.place(output.as_uri())),
    ):
        pass


@pytest.mark.parametrize("log", ["sources/0", "offsets", "commits"])
def test_an_entry_of_another_job(spark: SparkSession, tmp_path: Path, output: Path, log: str) -> None:
    """Whichever of the checkpoint's logs has it: the job ends with the line that says what to do."""
    directory, entries = tmp_path / "in", output / "_checkpoint" / log
    file(directory, [push(1, 0)])
    query = job.Job(Output(spark, str(output)), [FilesInput(str(directory))]).start("1 seconds")
    try:
        until((output / "_checkpoint" / "commits" / "0").exists, "the first batch", 60)
        shutil.copy(entries / "0", entries / "1")
        file(directory, [push(1, 1)])
        with pytest.raises(PipelineError, match=f"^the job ended: {_TOLD}$"):
            streams.wait(query, lambda done: None)
    finally:
        query.stop()


@pytest.mark.timeout(600)
def test_two_jobs_on_one_checkpoint(spark: SparkSession, tmp_path: Path, output: Path) -> None:
    """Of two jobs on an output that no lock of this machine guards, one ends with one line; nothing is there twice."""
    mount = f"fs.viewfs.mounttable.{output.name}.link./tables"
    output.mkdir()
    spark.sparkContext._jsc.hadoopConfiguration().set(mount, output.as_uri())
    place = Output(spark, f"viewfs://{output.name}/tables")
    directory, said = tmp_path / "in", tmp_path / "said"
    numbers = itertools.count()
    file(directory, [push(1, next(numbers))])
    query = job.Job(place, [FilesInput(str(directory))]).start("1 seconds")
    command = [sys.executable, "-m", "kproxy", "pipeline", "run", "--input", f"files:{directory}", "--trigger", "1s"]
    submitted = f"--conf spark.hadoop.{mount}={output.as_uri()} pyspark-shell"
    with said.open("wb") as log:
        other = subprocess.Popen(
            [*command, "--output", place.place, "--master", "local[2]"],
            stderr=log,
            env=os.environ | {"PYSPARK_SUBMIT_ARGS": submitted},
        )

    def one_has_ended() -> bool:
        file(directory, [push(1, next(numbers))])
        return not query.isActive or other.poll() is not None

    try:
        until(one_has_ended, "one of the jobs ends", 500, every=1)
        if query.isActive:
            assert said.read_text() == f"pipeline: the job ended: {_TOLD}\n"
        else:
            with pytest.raises(PipelineError, match=f"^the job ended: {_TOLD}$"):
                streams.wait(query, lambda done: None)
    finally:
        query.stop()
        other.kill()
        other.wait()
    streams.wait(job.Job(place, [FilesInput(str(directory))]).start(None), lambda done: None)
    found = place.read(tables.POINTS).selectExpr("client_instance_id", "metric", "labels['topic']", "value").collect()
    pushes = [push(1, number) for number in range(next(numbers))]
    assert Counter(map(tuple, found)) == Counter(points(pushes))


_TOLD = "another job writes this output; end one of the two"
