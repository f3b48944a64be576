"""kproxy.pipeline.job: what is written by kproxy is in the tables, once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from kproxy.pipeline import job
from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.inputs import FilesInput, Input, TopicInput
from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.interface import OTLP
from kproxy.telemetry.receivers.kafka import records_with
from tests.pipeline.written import CLUSTER, Point, file, points, push

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Run = Callable[..., None]
Table = Callable[[str], "DataFrame"]


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """Where the tables are."""
    return tmp_path / "tables"


@pytest.fixture
def run(spark: SparkSession, output: Path) -> Run:
    """Run a job to its end."""

    def run_it(*inputs: Input, options: job.Options = job.Options()) -> None:  # noqa: B008 - frozen
        query = job.Job(spark, inputs, str(output), options).start(None)
        assert query.awaitTermination(120)

    return run_it


@pytest.fixture
def table(spark: SparkSession, output: Path) -> Table:
    """Read a table."""
    return lambda name: spark.read.format("delta").load(str(output / name))


def counted(table: Table) -> Counter[Point]:
    """Each point in the table `points`, and how often it is there."""
    rows = table("points").selectExpr("client_instance_id", "metric", "labels['topic']", "value").collect()
    return Counter(tuple(row) for row in rows)


def test_files(tmp_path: Path, run: Run, table: Table) -> None:
    """What kproxy's writer wrote is there once, also when its files grow, and a push comes again in another file."""
    pushes = [push(client, turn) for turn in range(3) for client in range(10)]
    directory = tmp_path / "in"
    file(directory, pushes[:20])
    run(FilesInput(str(directory)))
    assert counted(table) == Counter(points(pushes[:20]))
    file(directory, [*pushes[15:], pushes[29]])
    (directory / ".telemetry-later.json.gz.part").write_bytes(b"\x1f\x8b")  # still being written
    run(FilesInput(str(directory)))
    assert counted(table) == Counter(points(pushes))
    assert table("pushes").count() == 30
    assert table("quarantine").count() == 0
    (row,) = table("points").where("metric like '%.1'").orderBy("time", "client_instance_id").limit(1).collect()
    assert (row["type"], row["temporality"], row["cluster"]) == ("sum", "delta", CLUSTER)
    assert row["rate"] == row["value"] / 30
    assert row["resource"] == {"client_rack": "r0"}


def test_a_topic(run: Run, table: Table, tmp_path: Path) -> None:
    """The same pushes from a topic of a real Kafka; those that are in files, too, are known by their times."""
    pushes = [push(client, turn) for turn in range(3) for client in range(10)]
    file(tmp_path / "in", pushes[:10])
    with Cluster(jars.KAFKA_4_3, (0,)) as cluster:
        produced(cluster.bootstrap, pushes)
        run(FilesInput(str(tmp_path / "in")), TopicInput(cluster.bootstrap, "telemetry"))
    assert counted(table) == Counter(points(pushes))
    (row,) = table("quarantine").collect()
    assert row["reason"].startswith("not OTLP")
    assert bytes(row["raw"]) == b"nonsense"
    assert table("events").select("event").collect() == [("a_later_kind",)]


def produced(servers: str, pushes: list[Push]) -> None:
    """Write pushes to a topic, each twice, as after a lost answer; an event, and something that nobody can read."""
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic("telemetry", 1, 1)])["telemetry"].result(30)
    producer, record = Producer({"bootstrap.servers": servers}), records_with({"cluster": CLUSTER})
    for each in [*pushes, *pushes]:
        made = record(each)
        headers: list[tuple[str, str | bytes | None]] = list(made.headers)
        producer.produce("telemetry", made.value, made.key, timestamp=made.timestamp, headers=headers, partition=0)
    otlp: list[tuple[str, str | bytes | None]] = [
        ("content-type", OTLP.encode()),
        ("client_instance_id", b"x"),
    ]
    producer.produce("telemetry", b"nonsense", headers=otlp, partition=0)
    event = b'{"event":"a_later_kind","at":"2026-11-24T00:00:00.000Z","schema":1,"new":1}'
    producer.produce("telemetry", event, headers=[("content-type", b"application/json")], partition=0)
    assert producer.flush(30) == 0


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


def test_hostile_numbers(tmp_path: Path, run: Run, table: Table) -> None:
    """Times at the ends of their range, and values that are no numbers: rows as any, and the job goes on."""
    data = MetricsData()
    scope = data.resource_metrics.add().scope_metrics.add()
    for time_, value in ((1, inf), ((1 << 63) - 1, nan), ((1 << 64) - 1, 1.5), (0, 2.5)):
        metric = scope.metrics.add(name="m")
        metric.sum.aggregation_temporality = 1
        point = metric.sum.data_points.add(start_time_unix_nano=(1 << 63) + 5, time_unix_nano=time_, as_double=value)
        point.attributes.add(key="topic").value.string_value = "t"
    with Cluster(jars.KAFKA_4_3, (0,)) as cluster:
        produced(cluster.bootstrap, [push(1, 1, data.SerializeToString())])
        run(TopicInput(cluster.bootstrap, "telemetry"))
    found = table("points").selectExpr("year(time)", "start", "value", "rate").collect()
    assert sorted(map(tuple, found), key=str) == [
        (1970, None, None, None),
        (2026, None, 1.5, None),
        (2026, None, 2.5, None),
        (2262, None, None, None),
    ]


def test_no_input(tmp_path: Path, run: Run, table: Table) -> None:
    """Empty tables, which can be read."""
    run(FilesInput(str(tmp_path)))
    assert [table(name).count() for name in ("points", "pushes", "events", "quarantine")] == [0] * 4


def test_an_output_of_another_version(spark: SparkSession, tmp_path: Path, output: Path, run: Run) -> None:
    """It is refused before anything is written."""
    run(FilesInput(str(tmp_path)))
    spark.sql(f"ALTER TABLE delta.`{output}/events` SET TBLPROPERTIES ('kproxy.pipeline.version' = '99')")
    with pytest.raises(PipelineError, match="table events is of version 99, and this pipeline writes 1"):
        run(FilesInput(str(tmp_path)))


def test_a_topic_that_is_not_there(spark: SparkSession, output: Path) -> None:
    """One line says so."""
    with Cluster(jars.KAFKA_4_3, (0,)) as cluster:
        query = job.Job(spark, [TopicInput(cluster.bootstrap, "none")], str(output)).start(None)
        with pytest.raises(PipelineError, match=r"^the job ended: .*UnknownTopicOrPartition.*$"):
            job.wait(query, lambda done: None)


def test_two_jobs_on_one_output(output: Path) -> None:
    """The second one is refused."""
    with job.alone(str(output)), pytest.raises(PipelineError, match="another job writes there"), job.alone(str(output)):
        pass


@pytest.mark.timeout(600)  # four starts of Spark: two minutes on a quiet machine
def test_a_killed_job_goes_on(tmp_path: Path, output: Path, run: Run, table: Table) -> None:
    """Killed while it writes, again and again, it neither loses nor repeats a point."""
    directory = tmp_path / "in"
    pushes = [push(client, turn) for turn in range(24) for client in range(5)]
    for turn in range(24):
        file(directory, pushes[5 * turn : 5 * turn + 5])
    program = (
        "from kproxy.pipeline import session, job, inputs\n"
        f"job.Job(session.start('k', 'local[2]', [session.KAFKA]), [inputs.FilesInput({str(directory)!r})], "
        f"{str(output)!r}, job.Options(files_a_batch=4)).start(None).awaitTermination()\n"
    )
    for sign in ("_checkpoint/offsets/1", "pushes/_delta_log/00000000000000000002.json", "_checkpoint/offsets/4"):
        killed_after(program, output / sign)
    run(FilesInput(str(directory)), options=job.Options(files_a_batch=4))
    assert counted(table) == Counter(points(pushes))
    assert table("pushes").count() == len(pushes)


def killed_after(program: str, sign: Path) -> None:
    """Run a program of its own, and kill it as soon as a file is there."""
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, start_new_session=True) as process:
        deadline = time.monotonic() + 120
        while not sign.exists():
            assert process.poll() is None, process.stderr and process.stderr.read()[-2000:]
            assert time.monotonic() < deadline
            threading.Event().wait(0.02)
        os.killpg(process.pid, signal.SIGKILL)
