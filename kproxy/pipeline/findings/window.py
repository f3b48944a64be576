"""The time that findings are about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from kproxy.pipeline.errors import PipelineError

_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days"}


@dataclass(frozen=True, slots=True)
class Window:
    """From `since` on, before `until`; `name` is for people."""

    since: datetime
    until: datetime
    name: str


def parse(since: str, until: str | None, now: datetime) -> Window:
    """Return the window that ends at `until`, an ISO time, or else now; raises `PipelineError`."""
    duration = _duration(since)
    if until is None:
        return Window(now - duration, now, f"last {since}")
    end = _time(until)
    return Window(end - duration, end, f"{since} before {end:%Y-%m-%d %H:%M} UTC")


def _duration(text: str) -> timedelta:
    match = re.fullmatch(r"(\d{1,6})([mhd])", text)
    if match is None or not int(match[1]):
        raise PipelineError(f"since {text!r}: expected a time as 90m, 24h or 7d")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise PipelineError(f"until {text!r}: expected an ISO time as 2026-01-31T12:00:00Z") from None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
