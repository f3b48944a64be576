"""Figures that tests noted through `bounds`, read from the reports of runs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Figure(NamedTuple):
    """What a test measured, in seconds or bytes, and what it must be below."""

    nodeid: str
    what: str
    figure: float
    most: float

    @property
    def kept(self) -> bool:
        """Whether it is below."""
        return self.figure < self.most


def figures(reports: Iterable[Path]) -> list[Figure]:
    """Return each figure once, the least of all runs in these reports, those nearest to their bounds first."""
    best: dict[tuple[str, str], Figure] = {}
    for one in (found for path in sorted(reports) for found in _of(path)):
        known = best.get((one.nodeid, one.what))
        if known is None or one.figure < known.figure:
            best[one.nodeid, one.what] = one
    return sorted(best.values(), key=lambda one: -one.figure / one.most)


def _of(path: Path) -> list[Figure]:
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        Figure(line["nodeid"], what, figure, most)
        for line in lines
        for what, (figure, most) in line.get("figures", {}).items()
    ]
