"""kproxy.pipeline.report.words: names that can be read, whatever they are."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from kproxy.pipeline.report.words import evidence, moment, shown


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (None, "(none)"),
        ("", "(none)"),
        ("orders-1", "orders-1"),
        ("two\nlines", "two\\nlines"),
        ("a\x00b\x1b[31m", "a\\x00b\\x1b[31m"),
        ("\u202eevil\u200b", "\\u202eevil\\u200b"),
        ("אבג 日本 é", "אבג 日本 é"),
        ("\ud800", "\\ud800"),
        ("x" * 64, "x" * 64),
        ("x" * 256, "x" * 63 + "…"),
    ],
)
def test_shown(text: str | None, seen: str) -> None:
    """Each character is seen; a long name is cut."""
    assert shown(text) == seen


def test_evidence() -> None:
    """Figures by their names; what the heading says is left out."""
    row = {
        "cluster": "main",
        "subject": "app",
        "past_points": 1234,
        "growth": 2.34567,
        "worst_hour": "2026-09-21T09:00:00+00:00",
        "examples": ["a\nb", None],
        "late": None,
        "open": True,
        "none": [],
        "more": {"x": 1},
        "not_a_time": "2026-09-99T09:00:00+00:00",
    }
    assert dict(evidence(json.dumps(row))) == {
        "past points": "1,234",
        "growth": "2.35",
        "worst hour": "2026-09-21 09:00:00",
        "examples": "a\\nb, –",
        "late": "–",
        "open": "yes",
        "none": "–",
        "more": '{"x": 1}',
        "not a time": "2026-09-99T09:00:00+00:00",
    }


def test_moment() -> None:
    """To the minute."""
    assert (moment(datetime(2026, 9, 21, 9, 5, 59, tzinfo=UTC)), moment(None)) == ("2026-09-21 09:05", "–")
