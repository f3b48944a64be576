"""Where the pipeline runs bigger: under spark-submit, on a real standalone cluster of Spark; and without a network."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyspark
import pytest
from deltalake import DeltaTable

import kproxy
from kproxy.local_kafka.broker import HOST
from kproxy.local_kafka.ports import free_ports
from kproxy.local_kafka.processes import kill_group, spawn
from kproxy.pipeline.session import DELTA
from tests.pipeline.written import file, push
from tests.support.wait import until

BIN = Path(pyspark.__file__).parent / "bin"
PROGRAM = Path(kproxy.__file__).parent / "__main__.py"
_QUICK = "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
_TIMEOUT = 600.0
"""Seconds, for a start of Spark on a machine with much else to do."""
_SETTINGS = """
<ivysettings>
  <settings defaultResolver="nowhere"/>
  <resolvers><ibiblio name="nowhere" m2compatible="true" root="http://127.0.0.1:9/"/></resolvers>
</ivysettings>
"""


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """Of a job over a few pushes."""
    file(tmp_path / "in", [push(client, 1) for client in range(4)])
    return ["pipeline", "run", "--input", f"files:{tmp_path / 'in'}", "--output", str(tmp_path / "tables")]


def _run(command: Sequence[str | Path], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=_TIMEOUT
    )


def _points(tmp_path: Path) -> int:
    return int(DeltaTable(str(tmp_path / "tables" / "points")).to_pyarrow_table(columns=["value"]).num_rows)


@pytest.mark.timeout(_TIMEOUT)
def test_spark_submit(tmp_path: Path, arguments: list[str]) -> None:
    """It runs kproxy's own file, on the master and with the settings that it was given."""
    settings = ("--master", "local[2]", "--packages", DELTA, "--conf", _QUICK)
    done = _run([BIN / "spark-submit", *settings, PROGRAM, *arguments], PYSPARK_PYTHON=sys.executable)
    assert done.returncode == 0, done.stderr[-3000:]
    assert _points(tmp_path) == 24


@pytest.mark.timeout(_TIMEOUT)
def test_spark_submit_without_delta(arguments: list[str]) -> None:
    """One line says which package to add."""
    command: list[str | Path] = [BIN / "spark-submit", "--master", "local[1]", "--conf", _QUICK, PROGRAM, *arguments]
    done = _run(command, PYSPARK_PYTHON=sys.executable)
    assert done.returncode
    said = f"pipeline: Spark lacks {DELTA}; spark-submit takes it with --packages {DELTA}"
    assert [line for line in done.stdout.splitlines() if line.startswith(("pipeline:", "\tat"))] == [said]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """A master and a worker of Spark on loopback; its URL."""
    port, *others = free_ports(4)
    environment = os.environ | {"SPARK_LOCAL_IP": HOST, "SPARK_NO_DAEMONIZE": "1"}
    url, log = f"spark://{HOST}:{port}", tmp_path / "cluster.log"
    deploy = "org.apache.spark.deploy"
    master = [f"{deploy}.master.Master", "--host", HOST, "--port", port, "--webui-port", others[0]]
    worker = [f"{deploy}.worker.Worker", "--host", HOST, "--port", others[1], "--webui-port", others[2]]
    worker += ["--cores", 2, "--memory", "1g", "--work-dir", tmp_path / "work", url]
    started = []
    try:
        for command, sign in ((master, "New state: ALIVE"), (worker, "Registering worker")):
            started.append(spawn([str(BIN / "spark-class"), *map(str, command)], log, env=environment))
            until(lambda sign=sign: sign in log.read_text(), sign, _TIMEOUT)  # type: ignore[misc]
        yield url
    finally:
        for process in started:
            kill_group(process)


@pytest.mark.timeout(2 * _TIMEOUT)
def test_a_standalone_cluster(tmp_path: Path, arguments: list[str], cluster: str) -> None:
    """`--master spark://…` runs it on the executors of the cluster, which get Delta from the driver."""
    settings = ("spark.cores.max=2", "spark.executor.memory=768m", f"spark.driver.host={HOST}", _QUICK)
    submitted = shlex.join(word for setting in settings for word in ("--conf", setting))
    command = [sys.executable, "-m", "kproxy", *arguments, "--master", cluster]
    done = _run(command, PYSPARK_SUBMIT_ARGS=f"{submitted} pyspark-shell", SPARK_LOCAL_IP=HOST)
    assert done.returncode == 0, done.stderr[-3000:]
    assert _points(tmp_path) == 24
    assert list((tmp_path / "work").glob("app-*/0/stderr")), "no executor of the cluster has run"


@pytest.mark.timeout(_TIMEOUT)
def test_the_first_start_without_a_network(tmp_path: Path, arguments: list[str]) -> None:
    """One line says that Maven Central was not reached, and what to do."""
    (tmp_path / "ivy.xml").write_text(_SETTINGS)
    settings = f"--conf spark.jars.ivySettings={tmp_path}/ivy.xml --conf spark.jars.ivy={tmp_path}/ivy pyspark-shell"
    done = _run([sys.executable, "-m", "kproxy", *arguments], PYSPARK_SUBMIT_ARGS=settings)
    assert done.returncode == 2
    assert done.stderr == (
        f"pipeline: Spark did not start: it cannot fetch {DELTA} from Maven Central; without a network name a "
        "directory of its jars: --jars DIRECTORY, or KPROXY_SPARK_JARS; docs/pipeline.md, Without a network\n"
    )
    assert not (tmp_path / "tables" / "points").exists()


@pytest.mark.timeout(_TIMEOUT)
def test_jars_of_a_directory(tmp_path: Path, arguments: list[str]) -> None:
    """With them nothing is fetched: the same repository that nobody reaches does no harm."""
    (tmp_path / "ivy.xml").write_text(_SETTINGS)
    cached = Path.home() / ".ivy2.5.2" / "jars"
    ivy = f"--conf spark.jars.ivySettings={tmp_path}/ivy.xml --conf spark.jars.ivy={tmp_path}/ivy"
    settings = f"{ivy} {shlex.join(('--conf', _QUICK))}"
    command = [sys.executable, "-m", "kproxy", *arguments, "--jars", str(cached), "--master", "local[2]"]
    done = _run(command, PYSPARK_SUBMIT_ARGS=f"{settings} pyspark-shell")
    assert done.returncode == 0, done.stderr[-3000:]
    assert _points(tmp_path) == 24


def test_spark_connect(arguments: list[str]) -> None:
    """It is refused in one line, before anything starts."""
    done = _run([sys.executable, "-m", "kproxy", *arguments, "--master", "sc://127.0.0.1:15002"])
    assert done.returncode == 2
    assert done.stderr.startswith("pipeline: sc://127.0.0.1:15002: the pipeline does not run through Spark Connect; ")
    assert done.stderr.count("\n") == 1
