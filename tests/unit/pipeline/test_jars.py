"""kproxy.pipeline.jars: a directory of jars in place of Maven Central."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.jars import DIRECTORY, settings

DELTA = "io.delta:delta-spark_2.13:4.0.1"
KAFKA = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"


def test_without_a_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark fetches the packages."""
    monkeypatch.delenv(DIRECTORY, raising=False)
    assert settings([DELTA, KAFKA]) == {"spark.jars.packages": f"{DELTA},{KAFKA}"}


def test_a_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All its jars are taken, named as in a repository or as in Spark's cache, and nothing is fetched."""
    monkeypatch.setenv(DIRECTORY, str(tmp_path))
    names = (
        "delta-spark_2.13-4.0.2.jar",
        "delta-storage-4.0.2.jar",
        f"org.apache.spark_{KAFKA.split(':')[1]}-4.0.0.jar",
    )
    for name in (*names, "readme.txt"):
        (tmp_path / name).touch()
    assert settings([DELTA, KAFKA]) == {"spark.jars": ",".join(str(tmp_path / name) for name in names)}


def test_a_directory_without_a_jar(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The one that is missing is named, before Spark starts."""
    monkeypatch.setenv(DIRECTORY, str(tmp_path))
    (tmp_path / "delta-spark_2.13-4.0.1.jar").touch()
    assert settings([DELTA])
    with pytest.raises(PipelineError, match=r"jars .*: there is no spark-sql-kafka-0-10_2\.13-4\.0\.0\.jar; docs/"):
        settings([DELTA, KAFKA])
