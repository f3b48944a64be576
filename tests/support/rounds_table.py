"""The table of what applications saw of a switch: records acknowledged and failed, errors, producers replaced."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.support.rounds import Result
from tests.support.violation import never

_COLUMNS = (
    "client",
    "version",
    "round",
    "acknowledged",
    "of these lost",
    "written twice",
    "failed",
    "of these written",
    "errors",
    "producers replaced",
    "seconds",
)

Kind = Literal["lost", "doubled", "elsewhere", "undead"]

_WIDTH = 90
"""Characters of an error, whose name comes first."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the producers of a library, in a version, saw in a round, and what is wrong with it in the logs.

    `where` ends with the name of the side that was active last. Of values: `lost` were acknowledged and are in no log,
    `doubled` are there more than once, `elsewhere` were acknowledged and are at the other side, `undead` failed and are
    in a log all the same.
    """

    who: tuple[str, str]
    where: str
    result: Result
    lost: Sequence[str]
    doubled: Sequence[str]
    elsewhere: Sequence[str]
    undead: Sequence[str]


def wrong(rounds: Iterable[Seen], *kinds: Kind) -> dict[str, dict[Kind, Sequence[str]]]:
    """Return the values that are wrong in one of these ways, by round and kind."""
    found = {one.where: {kind: values for kind in kinds if (values := getattr(one, kind))} for one in rounds}
    return {where: values for where, values in found.items() if values}


def check_once(rounds: Iterable[Seen]) -> None:
    """No record that was acknowledged is missing, and none is there twice."""
    found = wrong(rounds, "lost", "doubled")
    never(bool(found), f"records lost or doubled: {found}")


def compare(results: Iterable[tuple[tuple[str, str], str, Result]], written: Mapping[str, Counter[str]]) -> list[Seen]:
    """Compare results with the logs: `written` has for each side how often each value is there."""
    return [_seen(who, where, result, written) for who, where, result in results]


def _seen(who: tuple[str, str], where: str, result: Result, written: Mapping[str, Counter[str]]) -> Seen:
    all_logs = sum(written.values(), Counter[str]())
    elsewhere = next(log for side, log in written.items() if not where.endswith(side))
    return Seen(
        who,
        where,
        result,
        [value for value in result.acked if not all_logs[value]],
        [value for value in (*result.acked, *result.failed) if all_logs[value] > 1],
        [value for value in result.acked if elsewhere[value]],
        [value for value in result.failed if all_logs[value]],
    )


def write(path: Path, title: str, rows: Sequence[Seen]) -> str:
    """Write the table under its title, in place of an older one of that title; return it."""
    path.parent.mkdir(exist_ok=True)
    before = path.read_text().split("\n## ")[1:] if path.exists() else []
    others = [section for section in before if not section.startswith(f"{title},")]
    table = _table(title, rows)
    path.write_text("# Producers across switches\n" + "".join(f"\n## {one.strip()}\n" for one in (*others, table)))
    return table


def _table(title: str, rows: Sequence[Seen]) -> str:
    head = (_line(_COLUMNS), "|---" * len(_COLUMNS) + "|")
    in_order = sorted(rows, key=lambda one: one.who)  # the rounds of each stay in order
    return "\n".join((f"{title}, {time.strftime('%Y-%m-%d')}\n", *head, *map(_row, in_order)))


def _row(seen: Seen) -> str:
    result = seen.result
    counts = (len(result.acked), len(seen.lost), len(seen.doubled), len(result.failed), len(seen.undead))
    errors = Counter(result.failed.values()).most_common()
    named = ", ".join(f"{_cell(error)} × {count}" for error, count in errors) or "-"
    return _line((*seen.who, seen.where, *map(str, counts), named, str(result.replaced), f"{result.seconds:.1f}"))


def _cell(text: str) -> str:
    plain = text.replace("|", "/").replace("\n", " ")
    return plain if len(plain) <= _WIDTH else f"{plain[: _WIDTH - 1].rstrip()}…"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
