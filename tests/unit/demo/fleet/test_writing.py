"""kproxy.demo.fleet.writing and place: files as kproxy leaves them, in a directory of the sample's own."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path

import pytest

from kproxy.demo.fleet.day import Day
from kproxy.demo.fleet.place import Place
from kproxy.demo.fleet.writing import write_events, write_pushes
from kproxy.pipeline.errors import PipelineError


def test_files(of_5: Day, tmp_path: Path) -> None:
    """One for each hour, kproxy and kind; together they have every event and every push."""
    parts: list[float] = []
    counts = {
        "events": write_events(of_5, tmp_path, parts.append),
        "telemetry": write_pushes(of_5, tmp_path, parts.append),
    }
    for kind, count in counts.items():
        files = sorted(tmp_path.glob(f"kproxy-[01]/{kind}-20260922T??0000.*.json.gz"))
        assert len(files) == 48
        lines = [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]
        assert len(lines) == count
        assert {line["cluster"] for line in lines} == {"shop"}
    assert sum(1 for each in tmp_path.rglob("*") if each.is_file()) == 96
    assert all(before <= after for before, after in pairwise(parts[: counts["events"] // 500]))
    assert 0 <= min(parts) <= max(parts) <= 1


def test_a_former_sample_is_replaced(tmp_path: Path) -> None:
    """Its input, tables and report; what somebody added stays."""
    place = Place(tmp_path / "new" / "sample")
    place.clear()
    for file in (place.input / "a", place.tables / "t" / "b", place.report, place.root / "mine"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("old")
    place.clear()
    assert [each.name for each in place.root.iterdir() if not each.name.startswith(".")] == ["mine"]


def test_another_directory_is_left_alone(tmp_path: Path) -> None:
    """A line says so."""
    (tmp_path / "input").mkdir()
    with pytest.raises(PipelineError, match="it is not empty, and `kproxy pipeline demo` did not write it"):
        Place(tmp_path).clear()
    assert [each.name for each in tmp_path.iterdir()] == ["input"]
    (tmp_path / "file").touch()
    with pytest.raises(PipelineError, match="file: File exists; name another directory"):
        Place(tmp_path / "file").clear()
