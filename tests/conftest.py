"""Real clusters for a whole session, and kproxy in front of them."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.gate.long import LONG
from tests.support import examples
from tests.support.backend import Backend
from tests.support.bounds import Bounds
from tests.support.proxy import Proxy
from tests.support.runs import Runs

RUNS = "runs"
_left_out: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers of tests that not every machine can run."""
    config.addinivalue_line("markers", "node: needs node and npm; leave them out with -m 'not node'")
    config.addinivalue_line("markers", "go: needs Go 1.26 or newer; leave them out with -m 'not go'")
    described = "namespaces: needs network namespaces that anyone may make; leave them out with -m 'not namespaces'"
    config.addinivalue_line("markers", described)
    config.addinivalue_line("markers", "long: for `make test-long`; the gate leaves them out (tests/gate/long.py)")
    config.addinivalue_line("markers", "measured: has bounds on time or CPU, asserted by `make test-long` only")
    examples.load()
    for name in [name for name in os.environ if name.startswith("KPROXY_") and name != "KPROXY_TOOLS"]:
        del os.environ[name]  # kproxy reads its settings there; no test is to read those of a shell


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the long tests, and those that measure, before `-m` chooses."""
    for item in items:
        if item.nodeid.startswith(LONG):
            item.add_marker("long")
        if "bounds" in getattr(item, "fixturenames", ()):
            item.add_marker("measured")


def pytest_collection_finish() -> None:
    """Leave all that is there before the first test out of what `garbage` looks at, module by module: most of it."""
    gc.collect()
    gc.freeze()


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Remember the tests that were left out."""
    _left_out.extend(item.nodeid for item in items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the run that started this worker, if one did, which tests were left out; all workers leave out the same."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = _left_out


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a worker of pytest-xdist has told."""
    _left_out[:] = getattr(node, "workeroutput", {}).get("left_out", _left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the tests that were left out, so that a partial run is not taken for a whole one; and what ran again."""
    for path, count in Counter(nodeid.partition("::")[0] for nodeid in _left_out).items():
        terminalreporter.write_line(f"left out: {path} ({count})")
    for report in terminalreporter.getreports("passed"):
        if (runs := dict(report.user_properties).get(RUNS, 1)) > 1:
            terminalreporter.write_line(f"run again: {report.nodeid} ({runs} runs)")


# Ids as real clusters have them: not from 0, not adjacent, and the largest that Kafka takes.
NODE_IDS = (7, 1001, 2147483646)


@pytest.fixture(scope="session")
def kafka() -> Iterator[Backend]:
    """Three brokers of Apache Kafka 4.3.1."""
    with Cluster(jars.KAFKA_4_3, NODE_IDS, settings={"min.insync.replicas": 2}) as cluster:
        yield Backend(cluster)


@pytest.fixture(scope="session")
def newest_kafka() -> Iterator[Backend]:
    """One node of Apache Kafka 4.4.0."""
    with Cluster(jars.KAFKA_4_4, (0,)) as cluster:
        yield Backend(cluster)


@pytest.fixture(scope="session")
def both(kafka: Backend, newest_kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """One kproxy process with a virtual cluster for each of the two, from a configuration file."""
    servers = {"kafka": kafka.cluster.bootstrap, "newest": newest_kafka.cluster.bootstrap}
    with Proxy(tmp_path_factory.mktemp("kproxy"), servers) as proxy:
        yield proxy


@pytest.fixture(autouse=True, scope="module")
def garbage() -> Iterator[None]:
    """Collect at a module's end: what it has not closed is warned of in its last test, not in some later module's."""
    yield
    gc.collect()


@pytest.fixture
def bounds(request: pytest.FixtureRequest) -> Bounds:
    """Bounds on time, CPU and memory; each figure is in the report."""
    return Bounds(lambda what, *figure: request.node.user_properties.append((what, figure)))


@pytest.fixture
def runs(request: pytest.FixtureRequest) -> Runs:
    """For a test that may run its client again."""
    return Runs(lambda count: request.node.user_properties.append((RUNS, count)))


@pytest.fixture
def proxy(kafka: Backend, tmp_path: Path) -> Iterator[Proxy]:
    """A kproxy of the test's own in front of the three brokers, with short deadlines."""
    timeouts = {"stalled_frame": "1s", "first_request": "2s", "connect": "2s", "upstream_request": "3s"}
    with Proxy(tmp_path, {"kafka": kafka.cluster.bootstrap}, timeouts=timeouts, topology={"interval": "1s"}) as proxy:
        yield proxy
