"""How many events are reported in a second."""

from __future__ import annotations

from kproxy.observe.report_rate import ReportRate


def test_so_many_in_each_second() -> None:
    """The next second allows as many again."""
    rate = ReportRate(2)
    assert [rate.allows(now) for now in (5.0, 5.5, 5.9, 6.0, 6.1, 6.2)] == [True, True, False, True, True, False]


def test_how_many_were_left_out() -> None:
    """It is known of each that is allowed."""
    rate = ReportRate(1)
    allowed = [(now, rate.left_out) for now in (5.0, 5.1, 5.2, 6.0, 6.5, 8.0, 9.0) if rate.allows(now)]
    assert allowed == [(5.0, 0), (6.0, 2), (8.0, 1), (9.0, 0)]
