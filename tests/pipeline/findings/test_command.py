"""`kproxy pipeline findings` on tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kproxy.cli import main
from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY = ("--until", "2026-09-22T00:00:00Z")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code, the output and the errors of the command."""
    code = main(["pipeline", "findings", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_table(output: Output, capsys: pytest.CaptureFixture[str]) -> None:
    """The worst finding comes first; below is what to do."""
    rules = ("--rule", "rebalance-storm", "--rule", "proxy-short-of-resources")
    code, out, err = said(capsys, "--tables", output.place, *DAY, *rules)
    lines = [line.split() for line in out.splitlines() if line]
    assert (code, err) == (0, "")
    assert [line[:4] for line in lines[1:3]] == [
        ["critical", "proxy-short-of-resources", "proxy-short-of-resources", "proxy-1"],
        ["warning", "rebalance-storm", "rebalance-storm", "orders"],
    ]
    assert [line[0] for line in lines[4:]] == ["proxy-short-of-resources:", "rebalance-storm:"]


def test_json(output: Output, capsys: pytest.CaptureFixture[str]) -> None:
    """A list, with evidence as an object."""
    rule = ("--rule", "rebalance-storm", "--format", "json")
    code, out, _ = said(capsys, "--tables", output.place, *DAY, *rule)
    (finding,) = json.loads(out)
    assert code == 0
    assert finding["since"] == "2026-09-21T00:00:00+00:00"
    assert finding["evidence"]["worst_hour"] == "2026-09-21T09:00:00+00:00"
    assert finding["evidence"]["most"] == 30


def test_nothing(output: Output, capsys: pytest.CaptureFixture[str]) -> None:
    """A line says how much was looked at."""
    code, out, _ = said(capsys, "--tables", output.place, *DAY, "--rule", "clock-wrong", "--since", "10m")
    points, clients = output.read(tables.POINTS), output.read(tables.CLIENTS)
    there = clients.where("last_seen >= '2026-09-21T23:50:00Z'").select("cluster", "client_id").distinct().count()
    seen = points.where("received_at >= '2026-09-21T23:50:00Z'").count()
    looked_at = f"({there} clients, {seen:,} points looked at)"
    assert (code, out) == (0, f"no findings in the 10m before 2026-09-22 00:00 UTC {looked_at}\n")


def test_no_tables(tmp_path: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said where, and what to name."""
    del spark
    code, _, err = said(capsys, "--tables", str(tmp_path))
    where = f"pipeline: output {tmp_path}: there is no table pushes"
    assert (code, err) == (2, f"{where}; name the --output of a `kproxy pipeline run`\n")
    assert list(tmp_path.iterdir()) == []
