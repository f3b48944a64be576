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

from kproxy.pipeline.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA: Final = 17
"""Spark 4 needs this version of Java or a later one."""
DELTA: Final = "io.delta:delta-spark_2.13:4.0.1"
KAFKA: Final = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"
"""Built for 4.0.0, it works with all of Spark 4.0."""

_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""spark-submit sets this variable. What a program says of the master would override what it was given."""
_ON_ONE_MACHINE: Final[Mapping[str, str]] = {
    # Delta's default of 50 partitions of its log makes each commit take seconds on a few cores.
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.driver.memory": "3g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_ALWAYS: Final[Mapping[str, str]] = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
}


def start(
    name: str, master: str | None, packages: Iterable[str] = (), options: Mapping[str, str] | None = None
) -> SparkSession:
    """Return a session; `master` None is what spark-submit says, or else all cores of this machine.

    Raises `PipelineError` when there is no Java, or Spark cannot start.
    """
    check_java()
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master is None and _SUBMITTED not in os.environ:
        master = "local[*]"
    local = master is not None and master.startswith("local")
    settings = {**_ALWAYS, **(_ON_ONE_MACHINE if local else {}), **_cores(master or ""), **(options or {})}
    settings["spark.jars.packages"] = ",".join((DELTA, *packages))
    builder = SparkSession.builder.appName(name).config(map=settings)
    if master is not None:
        builder = builder.master(master)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise PipelineError(f"Spark did not start: {_first_line(error)}") from error
    session.sparkContext.setLogLevel("ERROR")
    return session


def _cores(master: str) -> Mapping[str, str]:
    """As many partitions of a shuffle as cores; Spark's default of 200 is for clusters."""
    match = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master)
    if match is None:
        return {}
    cores = match[1] or "1"
    return {"spark.sql.shuffle.partitions": str(os.cpu_count() if cores == "*" else cores)}


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
