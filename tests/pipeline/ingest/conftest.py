"""A job over some inputs, and the tables that it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from kproxy.pipeline import streams
from kproxy.pipeline.delta import Output
from kproxy.pipeline.ingest import job
from kproxy.pipeline.ingest.inputs import Input
from tests.pipeline.ingest.topic import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Run = Callable[..., None]
_KEPT = {"log.retention.ms": -1, "log.initial.task.delay.ms": 100, "log.retention.check.interval.ms": 500}
"""The tests' records bear fixed times of the past, which Kafka would delete after a week: it looks for them often here,
so that a topic which does not keep them fails each run, and not one in twenty."""


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """host:port of a real Kafka; each test has topics of its own."""
    with Cluster(jars.KAFKA_4_3, (0,), settings=_KEPT) as cluster:
        yield cluster.bootstrap


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """Where the tables are."""
    return tmp_path / "tables"


@pytest.fixture
def run(spark: SparkSession, output: Path) -> Run:
    """Run a job to its end."""

    def run_it(*inputs: Input, options: job.Options = job.Options()) -> None:  # noqa: B008 - frozen
        query = job.Job(Output(spark, str(output)), inputs, options).start(None)
        streams.wait(query, lambda done: None)

    return run_it


@pytest.fixture
def table(spark: SparkSession, output: Path) -> Table:
    """Read a table."""
    return lambda name: spark.read.format("delta").load(str(output / name))
