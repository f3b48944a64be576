"""Errors that a real Kafka answers real clients, from kproxy's counter and events to the table of errors by class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from deltalake import DeltaTable

from kproxy.errors import ErrorClass, classify
from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from kproxy.pipeline import run, tables
from kproxy.wire.error_codes import error_name
from tests.support.backend import Backend
from tests.support.proxy import Proxy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A Kafka and a job, which a busy machine makes slow.
pytestmark = pytest.mark.timeout(600)

CLIENT, CLUSTER = "error-prone", "orders"
RETRIED = {ErrorClass.RETRIABLE, ErrorClass.REFRESH_RETRIABLE}
Got = tuple[str, int, str]
"""API, code and topic."""


@dataclass(frozen=True)
class Told:
    """What a client was told, and what kproxy's counter has."""

    got: Counter[Got]
    counted: Counter[tuple[str, str, str]]
    """API, error and class."""
    files: Path


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """An administrator makes mistakes, through a kproxy that writes events to files."""
    directory = tmp_path_factory.mktemp("errors")
    files = directory / "written"
    with Cluster(jars.KAFKA_4_3, [1]) as kafka:
        existing = Backend(kafka).topic(partitions=3, name="existing")
        destinations = [{"name": "lake", "type": "files", "directory": str(files)}]
        with Proxy(directory, {CLUSTER: kafka.bootstrap}, events={"destinations": destinations}) as proxy:
            admin = AdminClient({"bootstrap.servers": proxy.bootstrap(CLUSTER), "client.id": CLIENT, "log_level": 0})
            got = mistakes(admin, existing)
            counted = errors(proxy)
            del admin
            proxy.stop()
    return Told(got, counted, files)


def mistakes(admin: AdminClient, existing: str) -> Counter[Got]:
    """Ask for what Kafka refuses, several things in one request; return what the client was told of each topic."""
    new = [NewTopic(existing, 1, 1), NewTopic("many-replicas", 1, 7), NewTopic("bad name", 1, 1)]
    asked: list[tuple[str, Callable[[], dict[Any, Any]]]] = [
        ("CreateTopics", lambda: admin.create_topics(new)),
        ("DeleteTopics", lambda: admin.delete_topics(["nowhere"])),
        ("CreatePartitions", lambda: admin.create_partitions([NewPartitions(existing, 2)])),
    ]
    return Counter(
        (api, code_of(done.exception(30)), str(getattr(what, "name", what)))
        for api, ask in asked
        for what, done in ask().items()
    )


def code_of(error: BaseException | None) -> int:
    assert isinstance(error, confluent_kafka.KafkaException)
    code: int = error.args[0].code()
    return code


def errors(proxy: Proxy) -> Counter[tuple[str, str, str]]:
    """Return kproxy's counter, without the versions."""
    found: Counter[tuple[str, str, str]] = Counter()
    for name, labels, value in proxy.samples():
        if name == "kproxy_response_errors_total":
            found[labels["api"], labels["error"], labels["error_class"]] += int(value)
    return found


def test_each_error_is_counted(told: Told) -> None:
    """The counter has what the client was told, each topic of a request by itself, in the classes of applications."""
    expected: Counter[tuple[str, str, str]] = Counter()
    for (api, code, _), times in told.got.items():
        expected[api, error_name(code), class_of(code, api).value] += times
    assert len(expected) == 5
    assert told.counted == expected


def test_the_table_has_what_no_library_retries(told: Told, spark: SparkSession, tmp_path: Path) -> None:
    """Each with its client, its topic and its class, as often as the client was told."""
    run.run([f"files:{told.files}"], str(tmp_path), "available-now", "local[2]", print)
    rows = DeltaTable(str(tmp_path / tables.ERRORS_BY_CLASS.name)).to_pyarrow_table().to_pylist()
    assert {(row["cluster"], row["client_id"], row["software_name"]) for row in rows} == {
        (CLUSTER, CLIENT, "confluent-kafka-python")
    }
    found = {(row["api"], row["error_code"], row["topic"]): (row["error_class"], row["errors"]) for row in rows}
    kept = {got: times for got, times in told.got.items() if class_of(got[1], got[0]) not in RETRIED}
    assert 0 < len(kept) < len(told.got)
    assert found == {(api, code, topic): (class_of(code, api).value, n) for (api, code, topic), n in kept.items()}


def class_of(code: int, api: str) -> ErrorClass:
    found = classify(code, api)
    assert found is not None
    return found
