"""kproxy.pipeline.findings.window: --since and --until."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.findings import window

NOW = datetime(2026, 9, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "duration"),
    [("24h", timedelta(hours=24)), ("7d", timedelta(days=7)), ("90m", timedelta(minutes=90))],
)
def test_since(text: str, duration: timedelta) -> None:
    """Back from now."""
    assert window.parse(text, None, NOW) == window.Window(NOW - duration, NOW, f"last {text}")


@pytest.mark.parametrize("text", ["", "24", "h", "0h", "-1h", "1.5h", "24 h", "1w", "24h "])
def test_no_duration(text: str) -> None:
    """A line says what is expected."""
    with pytest.raises(PipelineError) as refused:
        window.parse(text, None, NOW)
    assert str(refused.value) == f"since {text!r}: expected a time as 90m, 24h or 7d"


@pytest.mark.parametrize(
    "text", ["2026-01-31", "2026-01-31T00:00", "2026-01-31T00:00:00Z", "2026-01-31T02:00:00+02:00"]
)
def test_until(text: str) -> None:
    """A time without a zone is UTC."""
    day = datetime(2026, 1, 31, tzinfo=UTC)
    given = window.parse("1d", text, NOW)
    assert (given.since, given.until) == (day - timedelta(days=1), day)
    assert given.name == "1d before 2026-01-31 00:00 UTC"


def test_no_time() -> None:
    """A line says what is expected."""
    with pytest.raises(PipelineError) as refused:
        window.parse("1d", "yesterday", NOW)
    assert str(refused.value) == "until 'yesterday': expected an ISO time as 2026-01-31T12:00:00Z"
