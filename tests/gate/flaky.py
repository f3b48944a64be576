"""tests/flaky.tsv: each time that a test failed in a gate and then passed alone. `make check` looks at it.

A line is date, test, message. The third one of a test within 30 days is refused: it is mended, and the commit that
mends it takes its lines out.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

from tests.gate.verdict import Again

KEPT: Final = Path(__file__).parents[1] / "flaky.tsv"
DAYS: Final = 30
MOST: Final = 2


def today() -> date:
    """Return the date in UTC."""
    return datetime.now(UTC).date()


def add(found: Iterable[Again], kept: Path = KEPT) -> None:
    """Write a line for each, to be committed with what mends it."""
    new = [f"{today()}\t{one.nodeid}\t{' '.join(one.message.split())}\n" for one in found]
    if new:
        with kept.open("a", encoding="utf-8") as file:
            file.writelines(new)
        print(f"flaky: {len(new)} more in {kept.name}: mend them today, or commit the lines")


def refused(lines: Sequence[str], now: date) -> list[str]:
    """Return the tests that are there too often."""
    rows = [line.split("\t") for line in lines if line.strip() and not line.startswith("#")]
    since = now - timedelta(days=DAYS)
    times = Counter(row[1] for row in rows if date.fromisoformat(row[0]) > since)
    return sorted(test for test, count in times.items() if count > MOST)


if __name__ == "__main__":
    found = refused(KEPT.read_text(encoding="utf-8").splitlines(), today())
    for test in found:
        print(f"{KEPT.name}: {test} was flaky {MOST + 1} times or more in {DAYS} days: mend it, and take its lines out")
    sys.exit(bool(found))
