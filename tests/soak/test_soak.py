"""The soak in small: everything at once for less than a minute, with bounds for so short a time.

The victim's p99 is a figure here: bounded where figures are measured, as what else the machine does moves it.
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.image import imread

from tests.soak.plot import plot
from tests.soak.run import FAULTLESS, NOTHING_LOST, Plan, soak
from tests.soak.verdict import MIB, P99, Bounds, p99s
from tests.support import bounds as measured
from tests.support.violation import never

SHORT = Plan(
    seconds=30,
    sampled=2,
    failover=11,
    reload=8,
    pushing=4,
    bounds=Bounds(rss=32 * MIB, files=30, threads=6, p99_times=2.0, p99_plus=0.05, unanswered=0.2),
)


def test_a_short_soak(tmp_path: Path, bounds: measured.Bounds) -> None:
    """Good and hostile clients, failovers and reloads: nothing grows, nobody good is hurt, no record is lost."""
    report = soak(SHORT, tmp_path)
    unmet = {verdict.name: verdict.figures for verdict in report.verdicts if not verdict.met}
    never(bool({FAULTLESS, NOTHING_LOST} & unmet.keys()), f"not met: {unmet}")
    before, after = p99s(report.samples)
    assert after > 0, "the victim was not served"
    bounds.below(after, SHORT.bounds.p99(before), "seconds of the victim's p99 in the second half")
    assert not unmet.keys() - {P99}, unmet
    assert sum(what.startswith("failover") for _, what in report.moments) >= 2
    assert sum(what == "reload" for _, what in report.moments) >= 3
    plot(report, tmp_path / "soak.png")
    assert imread(tmp_path / "soak.png").std() > 0.05
