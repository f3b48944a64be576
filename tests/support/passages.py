"""The table of how each client got over a switch."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.support.libraries import Library
from tests.support.switch import Followed, Passage

_COLUMNS = (
    "client",
    "version",
    "role",
    "not as by default",
    "told",
    "seconds to first success",
    "Metadata requests in 10 s",
    "errors shown",
)


def late(passages: Sequence[Passage], expected: Mapping[Followed, float]) -> dict[str, float | None]:
    """Return the seconds of clients that took longer than expected, on a machine of their own; None for never."""
    by_client = {one.client: one for one in passages}
    return {
        client.cluster: one.seconds
        for client, within in expected.items()
        if (one := by_client[client]).seconds is None or one.seconds > within * one.slowed
    }


def silent(passages: Sequence[Passage], most: float) -> dict[str, float]:
    """Return the longest silence, in seconds, of the clients that were silent for longer, on a machine of their own."""
    return {one.client.cluster: one.silence for one in passages if one.silence > most * one.slowed}


def write(path: Path, title: str, passages: Sequence[Passage]) -> str:
    """Write the table under its title, in place of an older one of that title; return it."""
    path.parent.mkdir(exist_ok=True)
    before = path.read_text().split("\n## ")[1:] if path.exists() else []
    others = [section for section in before if not section.startswith(f"{title},")]
    table = _table(title, passages)
    path.write_text("# Clients across a switch\n" + "".join(f"\n## {one.strip()}\n" for one in (*others, table)))
    return table


def _table(title: str, passages: Sequence[Passage]) -> str:
    rows = [_row(one) for one in sorted(passages, key=lambda one: one.client.cluster)]
    head = (_line(_COLUMNS), "|---" * len(_COLUMNS) + "|")
    return "\n".join((f"{title}, {time.strftime('%Y-%m-%d')}\n", *head, *rows))


def _row(passage: Passage) -> str:
    library, kind = passage.client.library, passage.client.kind
    notified = ", ".join(f"{means} × {count}" for means, count in passage.notified.items()) or "-"
    seconds = "never" if passage.seconds is None else f"{passage.seconds:.2f}"
    spent = (notified, seconds, str(passage.metadata), str(len(passage.errors)))
    return _line((library.name, library.version, kind, _own(library, kind), *spent))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _own(library: Library, kind: str) -> str:
    settings = {**library.settings.get("all", {}), **library.settings.get(kind, {})}
    return ", ".join(f"`{key}={value}`" for key, value in settings.items())
