"""Format numbers as text: latencies with their unit, rates, and rows of bars.

Screen, summary and plot call it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kproxy.demo.board import Moment

_BARS: Final = "▁▂▃▄▅▆▇█"
_NOTHING: Final = "–"


def latency(milliseconds: float | None) -> str:
    """Return a latency with at most three digits, in a suitable unit: 85 µs, 3.1 ms, 1.20 s."""
    if milliseconds is None:
        return _NOTHING
    if milliseconds < 1:
        return f"{milliseconds * 1000:.0f} µs"
    if milliseconds < 1000:
        return f"{milliseconds:.{0 if milliseconds >= 100 else 1}f} ms"
    return f"{milliseconds / 1000:.2f} s"


def tick(milliseconds: float) -> str:
    """Return the label of a round latency on an axis: 100 µs, 10 ms, 1 s."""
    for unit, size in (("s", 1000.0), ("ms", 1.0)):
        if milliseconds >= size:
            return f"{milliseconds / size:g} {unit}"
    return f"{milliseconds * 1000:g} µs"


def bars(values: Sequence[float | None], width: int) -> str:
    """Return the last `width` values as bars, relative to the largest; a blank for a missing value."""
    shown = values[-width:]
    most = max((value for value in shown if value is not None), default=0.0)
    return "".join(" " if value is None else _bar(value, most) for value in shown)


def _bar(value: float, most: float) -> str:
    return _BARS[min(int(value / most * len(_BARS)), len(_BARS) - 1)] if most > 0 else _BARS[0]


def plain(moment: Moment) -> str:
    """Return a moment as one line, for an output that is not a terminal."""
    return (
        f"{moment.at:5.1f} s  produced {moment.produced_per_s:6,.0f}/s  consumed {moment.consumed_per_s:6,.0f}/s  "
        f"p50 {latency(moment.p50_ms):>7}  p99 {latency(moment.p99_ms):>7}  "
        f"within kproxy p50 {latency(moment.in_kproxy_p50_ms):>6}  p99 {latency(moment.in_kproxy_p99_ms):>6}  "
        f"{moment.connections} connections"
    )
