"""The table of docs/clients.md, made of a record. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from kproxy.docs_part import with_part
from tests.clients_table.record import WAYS, WORKS, Record, Ways, with_login

PAGE: Final = Path("docs", "clients.md")
_BEGIN: Final = "<!-- clients: written by `make clients-table` -->\n"
_END: Final = "<!-- end of clients -->\n"
ALL: Final = "yes"
NONE: Final = "no"


def with_table(page: str, record: Record) -> str:
    """Return the page with what was run; ValueError where a mark is missing."""
    anyone = {place: runs for place, runs in record.items() if not with_login(place)}
    known = {place: runs for place, runs in record.items() if with_login(place)}
    parts = [_table(anyone), *_reasons(anyone)]
    if known:
        parts += ["By SASL:\n", _table(known), *_reasons(known)]
    return with_part(PAGE, page, _BEGIN, "\n" + "\n".join(parts) + "\n", _END)


def _table(record: Record) -> str:
    """Return a row for each client, in the order of the place that has most, and a column for each place."""
    head = ("client", "told", *(f"Kafka {place}" for place in record))
    ordered = sorted(record.values(), key=lambda runs: len(runs.clients), reverse=True)
    clients = dict.fromkeys(client for runs in ordered for client in runs.clients)
    rows = ((*_named(one), *(cell(runs.clients.get(one)) for runs in record.values())) for one in clients)
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ("---",) * len(head), *rows))


def _named(client: str) -> tuple[str, str]:
    """Return the release, and the version of brokers that it is told."""
    release, _, told = client.partition("-at-")
    library, _, version = release.rpartition("-")
    return f"{library} {version}", told or "–"


def cell(ways: Ways | None) -> str:
    """Return in which ways a client works: in all, in none, or which."""
    if ways is None:
        return "–"
    working = [way for way in WAYS if ways.get(way) == WORKS]
    return {len(WAYS): ALL, 0: NONE}.get(len(working), f"**{', '.join(working)} only**")


def _reasons(record: Record) -> Iterator[str]:
    """A paragraph of what clients say that do not work, for each place."""
    for place, runs in record.items():
        failing = {client: ways for client, ways in runs.clients.items() if cell(ways) != ALL}
        if failing:
            lines = (f"- {client}: {_said(ways)}\n" for client, ways in failing.items())
            yield f"At Kafka {place}, {runs.day}:\n\n{''.join(lines)}"


def _said(ways: Ways) -> str:
    """Return what a client says, once where it says the same in each way."""
    said = {way: says for way, says in ways.items() if says != WORKS}
    if len({*said.values()}) == 1 and len(said) == len(WAYS):
        return f"`{next(iter(said.values()))}`"
    return "; ".join(_quoted(said.items()))


def _quoted(said: Iterable[tuple[str, str]]) -> Iterator[str]:
    return (f"{way} `{says}`" for way, says in said)
