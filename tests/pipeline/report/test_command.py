"""`kproxy pipeline report` from the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kproxy.cli import main
from tests.pipeline.findings.fleet import Fleet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_GONE = ("connections", "traffic", "group_rebalances", "errors_by_class", "rollup_1m", "rollup_1h", "events")


@pytest.fixture(scope="module")
def empty(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables without a row, some of them missing, and one client long ago."""
    place = tmp_path_factory.mktemp("tables")
    fleet = Fleet()
    fleet.client("main", "app")
    fleet.pushes("main", "app", [fleet.rows["clients"][0]["first_seen"]])
    fleet.write(spark, str(place))
    for name in _GONE:
        shutil.rmtree(place / name)
    return place


def test_a_window_without_data(empty: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page says so, and where the data is."""
    out = tmp_path / "report.html"
    arguments = ("--tables", str(empty), "--until", "2026-12-01", "--out", str(out))
    code = main(["pipeline", "report", *arguments])
    captured = capsys.readouterr()
    said = f"{out}: 24h before 2026-12-01 00:00 UTC, 0 clients; findings: 0 critical, 0 warning, 0 info\n"
    assert (code, captured.out) == (0, said)
    page = out.read_text()
    assert "There is no data of this time" in page
    assert "The tables have data from 2026-09-21 00:00 to 2026-09-21 00:00 UTC." in page
    assert "--until 2026-09-21T00:01Z" in page


def test_missing_tables(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON goes to standard output; what cannot be answered says why, and the rest is there."""
    code = main(["pipeline", "report", "--tables", str(empty), "--until", "2026-09-22", "--format", "json"])
    captured = capsys.readouterr()
    plain = json.loads(captured.out)
    assert code == 0
    assert plain["passed"] == {"reason": "There is no table traffic: kproxy pipeline run makes it"}
    assert plain["fleet"]["reason"].startswith("There is no table connections")
    assert plain["abilities"] == {"told": 1, "alone": 0, "unknown": 0, "cannot": 0}
    assert [row["software"] for row in plain["versions"]["rows"]] == ["apache-kafka-java"]


def test_a_directory_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused before Spark starts, in a line."""
    out = tmp_path / "nowhere" / "report.html"
    assert main(["pipeline", "report", "--tables", str(tmp_path), "--out", str(out)]) == 2
    where = f"pipeline: out {out}: {out.parent} is not a directory that can be written to\n"
    assert capsys.readouterr().err == where


def test_no_tables(tmp_path: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said where, and what to name; nothing is written."""
    del spark
    assert main(["pipeline", "report", "--tables", str(tmp_path), "--format", "json"]) == 2
    assert capsys.readouterr().err.startswith(
        f"pipeline: output {tmp_path}: there is no table pushes; name the --output"
    )
    assert list(tmp_path.iterdir()) == []
