"""The Spark session of the pipeline: with Delta Lake, and with Kafka where a topic is read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kproxy.pipeline import jars, jvm_output
from kproxy.pipeline.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA: Final = 17
"""Spark 4 needs this version of Java or a later one."""
DELTA: Final = "io.delta:delta-spark_2.13:4.0.1"
KAFKA: Final = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"
"""Built for 4.0.0, it works with all of Spark 4.0."""

_CLASSES: Final[Mapping[str, str]] = {
    DELTA: "io.delta.sql.DeltaSparkSessionExtension",
    KAFKA: "org.apache.spark.sql.kafka010.KafkaSourceProvider",
}
_STREAMS: Final = "org.apache.spark.sql.execution.streaming.MicroBatchExecution"
"""Logs the stack of what ended a stream, which `streams.wait` says in one line."""
_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""spark-submit sets this variable. What a program says of the master would override what it was given."""
_LISTED_AT_ONCE: Final = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
_ON_ONE_MACHINE: Final[Mapping[str, str]] = {
    "spark.driver.memory": "3g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_ALWAYS: Final[Mapping[str, str]] = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    # Delta's default of 50 partitions of its log makes each commit take seconds on a few cores.
    "spark.databricks.delta.snapshotPartitions": "2",
    # VACUUM lists a table in so many tasks, nine times over: Spark's default of 10,000 makes that a minute a table.
    _LISTED_AT_ONCE: "64",
    # Else Spark sorts what it writes by `date`, to have one file open at a time.
    "spark.sql.maxConcurrentOutputFileWriters": "32",
}


def start(
    name: str, master: str | None, packages: Iterable[str] = (), options: Mapping[str, str] | None = None
) -> SparkSession:
    """Return a session; `master` None is what spark-submit says, or else all cores of this machine.

    What spark-submit sets stays. Raises `PipelineError` when there is no Java, or Spark cannot start.
    """
    check_java()
    _refuse_connect(master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    given = _submitted(packages) if _SUBMITTED in os.environ else {}
    where = master or given.get("spark.master", "local[*]")
    local = _ON_ONE_MACHINE if where.startswith("local") else {}
    # A JVM that runs has the jars that spark-submit was given, and no others.
    needed = {} if given else jars.settings((DELTA, *packages))
    settings = {**_ALWAYS, **local, **_cores(where), **needed, **(options or {})}
    with jvm_output.captured() as output:
        try:
            session = _started(name, where, {key: settings[key] for key in settings if key not in given})
        except Exception as error:
            raise PipelineError(f"Spark did not start: {_why(error, output.failure())}") from error
        output.started()
    session.sparkContext.setLogLevel("ERROR")
    log4j = session._jvm.org.apache.logging.log4j
    log4j.core.config.Configurator.setLevel(_STREAMS, log4j.Level.OFF)
    return session


def _started(name: str, master: str, settings: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    return SparkSession.builder.appName(name).master(master).config(map=dict(settings)).getOrCreate()


def _submitted(packages: Iterable[str]) -> dict[str, str]:
    """Return the settings of spark-submit; raise `PipelineError` when its JVM lacks the classes of a package."""
    from py4j.protocol import Py4JJavaError
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    loader = SparkContext._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    for package in (DELTA, *packages):
        try:
            loader.loadClass(_CLASSES[package])
        except Py4JJavaError as error:
            raise PipelineError(f"Spark lacks {package}; spark-submit takes it with --packages {package}") from error
    return dict(SparkConf().getAll())


def _refuse_connect(master: str | None) -> None:
    """Raise `PipelineError` for Spark Connect: jobs look into the JVM of their driver, which a client has not."""
    remote = master if master is not None and master.startswith("sc://") else os.environ.get("SPARK_REMOTE")
    if remote:
        raise PipelineError(
            f"{remote}: the pipeline does not run through Spark Connect; name the cluster's own master (--master "
            "spark://HOST:7077), or use spark-submit: docs/pipeline-clusters.md"
        )


def _why(error: Exception, said: str | None) -> str:
    if said is None:
        return _first_line(error)
    return f"{said}; without a network {jars.MENDED}" if "Maven Central" in said else said


def _cores(master: str) -> Mapping[str, str]:
    """As many partitions of a shuffle, and of a list of files, as cores; Spark's defaults are for clusters."""
    match = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master)
    if match is None:
        return {}
    cores = str(os.cpu_count()) if match[1] == "*" else match[1] or "1"
    return {"spark.sql.shuffle.partitions": cores, _LISTED_AT_ONCE: cores}


def check_java() -> None:
    """Raise `PipelineError` unless there is a Java that Spark can use."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    install = f"install it (Debian: apt-get install openjdk-{JAVA}-jre-headless), or set JAVA_HOME"
    how = f"Spark needs Java {JAVA} or later: {install}"
    if java is None or not Path(java).exists():
        raise PipelineError(f"no Java {'at JAVA_HOME=' + home if home else 'on the PATH'}. {how}")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if version is None or int(version[1]) < JAVA:
        raise PipelineError(f"{java} is {said.splitlines()[0] if said.strip() else 'not a Java'}. {how}")


def _first_line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
