"""The table: medians, ratios by round, goals."""

from __future__ import annotations

import pytest

from .report import Row, pairs, pairs_table, rows, table


def one(samples: dict[str, dict[str, list[float]]], title: str) -> Row:
    (row,) = [row for row in rows(samples) if row.title == title]
    return row


@pytest.mark.parametrize(("kproxy", "met"), [(1.25, True), (1.26, False)])
def test_a_goal_for_the_ratio_is_compared_with_it(kproxy: float, met: bool) -> None:
    """At most 1.25 times HAProxy's CPU is met, more is missed."""
    row = one({"produce_cpu": {"haproxy": [1.0], "kproxy": [kproxy]}}, "produce, CPU s/GiB")
    assert row.ratio == kproxy
    assert row.met is met


def test_ratios_pair_the_rounds() -> None:
    """The ratio is the median of the rounds' own, so a round in which the machine was slow for both changes nothing."""
    row = one({"produce_cpu": {"haproxy": [1.0, 9.0, 2.0], "kproxy": [1.1, 9.9, 2.2]}}, "produce, CPU s/GiB")
    assert row.ratios == pytest.approx([1.1, 1.1, 1.1])
    assert row.figures == {"haproxy": 2.0, "kproxy": 2.2}


def test_added_latency_is_over_direct_in_the_same_round() -> None:
    """What a proxy adds is its figure less the direct one; a round where HAProxy added nothing has no ratio."""
    samples = {"p50": {"direct": [100.0, 200.0], "haproxy": [140.0, 199.0], "kproxy": [150.0, 260.0]}}
    row = one(samples, "latency p50 added over direct, µs")
    assert row.figures == {"haproxy": 19.5, "kproxy": 55.0}
    assert row.ratios == [1.25]
    assert row.met is True


def test_without_haproxy_goals_for_ratios_have_no_verdict() -> None:
    """Figures are shown, a goal for a ratio has no verdict, and an absolute goal still has one."""
    samples = {"produce_cpu": {"kproxy": [1.0]}, "idle": {"kproxy": [4.5]}}
    assert one(samples, "produce, CPU s/GiB").met is None
    assert one(samples, "an idle connection, KiB").met is False


@pytest.mark.parametrize(("pushes", "met"), [(2000.0, True), (1999.0, False)])
def test_a_goal_may_be_the_least(pushes: float, met: bool) -> None:
    """Pushes for each CPU second: more is better, and the table says so."""
    row = one({"telemetry_prometheus": {"kproxy": [pushes]}}, "telemetry to prometheus, pushes a CPU s")
    assert row.met is met
    assert "≥ 2000" in row.cells(False)


def test_a_spread_stands_beside_its_figure() -> None:
    """A figure that is drawn from pooled samples has its bounds beside it; one that is not measured has neither."""
    key, title = "telemetry_p99_2000_own", "p99 beside 2,000 pushes/s, over that, %"
    row = one({key: {"kproxy": [12.0]}, f"{key}_low": {"kproxy": [-3.4]}, f"{key}_high": {"kproxy": [21.6]}}, title)
    assert row.cells(False)[1:4] == ["", "", "12 (−3–22)"]
    assert row.met is True
    assert one({key: {"kproxy": [12.0]}}, title).cells(False)[3] == "12"


def test_what_was_not_measured_has_no_row() -> None:
    """A run of some sections shows these only, in lines of equal length."""
    found = rows({"ready": {"kproxy": [0.4]}})
    assert [row.title for row in found] == ["serve ready after, s"]
    assert len({len(line) for line in table(found).splitlines()}) == 1


def test_the_compiled_relay_has_columns_of_its_own() -> None:
    """They have the same goal and the same rounds of HAProxy; without the compiled relay the table lacks them."""
    samples = {"produce_cpu": {"haproxy": [1.0, 2.0], "kproxy": [1.5, 3.0]}}
    assert "compiled" not in table(rows(samples))
    samples["produce_cpu"]["kproxy-compiled"] = [1.2, 2.2]
    row = one(samples, "produce, CPU s/GiB")
    assert (row.met, row.compiled_met) == (False, True)
    assert row.compiled_ratios == pytest.approx([1.2, 1.1])
    lines = table([row, *rows({"ready": {"kproxy": [0.4]}})]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert "kproxy compiled" in lines[0]
    assert [cell.strip() for cell in lines[2].split("|")][-4:-1] == ["1.70", "1.15 (1.10–1.20)", "met"]


def test_two_builds_are_compared_round_by_round() -> None:
    """A round in which the machine was slow for both changes nothing; without another build there is no table."""
    samples = {"produce_cpu": {"kproxy-before": [1.0, 9.0, 2.0], "kproxy-compiled": [1.1, 9.9, 2.2]}}
    (pair,) = pairs(samples)
    assert pair.ratios == pytest.approx([1.1, 1.1, 1.1])
    assert [cell.strip() for cell in pairs_table([pair]).splitlines()[2].split("|")][1:-1] == [
        "produce, CPU s/GiB",
        "2.00",
        "2.20",
        "1.10 (1.10–1.10)",
    ]
    assert pairs({"produce_cpu": {"kproxy-compiled": [1.1]}}) == []
