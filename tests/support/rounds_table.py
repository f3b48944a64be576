"""The table of what applications saw of a switch: what was acknowledged, what failed and how, who was replaced."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.rounds import Result

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


@dataclass(frozen=True, slots=True)
class Seen:
    """What the producers of a library, in a version, saw in a round, and what is wrong with it in the logs.

    `where` names the side that was active; what was acknowledged and is at the other one is `elsewhere`. What failed,
    and is in a log all the same, is `undead`.
    """

    who: tuple[str, str]
    where: str
    result: Result
    lost: Sequence[str]
    doubled: Sequence[str]
    elsewhere: Sequence[str]
    undead: Sequence[str]


def judge(results: Iterable[tuple[tuple[str, str], str, Result]], written: Mapping[str, Counter[str]]) -> list[Seen]:
    """Hold results against the logs: `written` has for each side how often each value is there."""
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
    """Put the table under its title, in place of an older one of that title; returns it."""
    path.parent.mkdir(exist_ok=True)
    before = path.read_text().split("\n## ")[1:] if path.exists() else []
    others = [section for section in before if not section.startswith(f"{title},")]
    table = _table(title, rows)
    path.write_text("# Producers across switches\n" + "".join(f"\n## {one.strip()}\n" for one in (*others, table)))
    return table


def _table(title: str, rows: Sequence[Seen]) -> str:
    head = (_line(_COLUMNS), "|---" * len(_COLUMNS) + "|")
    in_order = sorted(rows, key=lambda one: one.who)  # rounds stay in theirs
    return "\n".join((f"{title}, {time.strftime('%Y-%m-%d')}\n", *head, *map(_row, in_order)))


def _row(seen: Seen) -> str:
    result = seen.result
    counts = (len(result.acked), len(seen.lost), len(seen.doubled), len(result.failed), len(seen.undead))
    errors = Counter(result.failed.values()).most_common()
    named = ", ".join(f"{_cell(error)} × {count}" for error, count in errors) or "-"
    return _line((*seen.who, seen.where, *map(str, counts), named, str(result.replaced), f"{result.seconds:.1f}"))


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
