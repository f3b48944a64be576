"""Days of TEST_SEEDS=10 other seeds: every planted trouble is found, and nothing else."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kproxy.demo.fleet.day import day
from kproxy.demo.fleet.verdict import judge
from kproxy.demo.fleet.writing import write_events, write_pushes
from kproxy.pipeline.delta import Output
from kproxy.pipeline.derived.job import Derivation
from kproxy.pipeline.findings.evaluate import Broken, evaluate
from kproxy.pipeline.findings.finding import Finding
from kproxy.pipeline.findings.rules import RULES
from kproxy.pipeline.findings.window import Window
from kproxy.pipeline.ingest.inputs import FilesInput
from kproxy.pipeline.ingest.job import Job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(101, 101 + int(os.environ.get("TEST_SEEDS", "10")))
SINCE, UNTIL = datetime(2026, 9, 21, tzinfo=UTC), datetime(2026, 9, 22, tzinfo=UTC)


@pytest.mark.timeout(1800)
def test_other_seeds(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each in a virtual cluster, within which rules judge; with fewer clients and rarer pushes than the sample has."""
    days = [day(seed, f"seed-{seed}", SINCE.timestamp(), 60, interval=1200.0) for seed in SEEDS]
    for each in days:
        write_events(each, tmp_path / "input" / each.fleet.cluster, lambda _: None)
        write_pushes(each, tmp_path / "input" / each.fleet.cluster, lambda _: None)
    output = Output(spark, str(tmp_path / "tables"))
    assert Job(output, [FilesInput(str(tmp_path / "input"))]).start(None).awaitTermination(1200)
    Derivation(output).run()
    results = list(evaluate(output, RULES, Window(SINCE, UNTIL, "day"), UNTIL))
    assert [str(each) for each in results if isinstance(each, Broken)] == []
    found = [each for each in results if isinstance(each, Finding)]
    verdicts = {each.fleet.seed: judge(each.planted, found, each.fleet.cluster) for each in days}
    with capsys.disabled():
        for seed, verdict in verdicts.items():
            print(f"seed {seed}: precision {verdict.precision:.3f}, recall {verdict.recall:.3f}")
    wrong = {
        seed: (sorted(verdict.missed), [(each.rule, each.subject, each.reason) for each in verdict.false_alarms])
        for seed, verdict in verdicts.items()
        if not verdict.perfect
    }
    assert wrong == {}
    assert len(found) == sum(verdict.expected for verdict in verdicts.values())
