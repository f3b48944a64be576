"""Writes the diagram and the tables of states in docs/groups.md; run it by `python -m`.

A developer runs it when the tables have changed; kproxy itself never does. A test fails while the page is out of date.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from kproxy.coordinator.states import ANSWERS, MOVES, Cause, GroupState
from kproxy.docs_part import with_part
from kproxy.wire.apis import APIS
from kproxy.wire.error_codes import error_name

PAGE: Final = Path("docs", "groups.md")
BEGIN: Final = "<!-- begin: written by `python -m kproxy.coordinator.docs_diagram` -->\n"
END: Final = "<!-- end -->\n"
_ORDER: Final = tuple(Cause)


def diagram() -> str:
    """Return the states and the moves between them, in Mermaid's language."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> Empty"]
    for before, moves in MOVES.items():
        lines += [f"    {before} --> {after}: {_causes(causes)}" for after, causes in moves.items()]
    return "\n".join([*lines, "    Dead --> [*]", "```", ""])


def _causes(causes: Iterable[Cause]) -> str:
    return ", ".join(sorted(causes, key=_ORDER.index))


def answers() -> str:
    """Return what members of the present generation are answered in each state, as a table."""
    head = ("State", *(APIS[key].name for key in ANSWERS))
    rows = [(str(state), *(_answer(table[state]) for table in ANSWERS.values())) for state in GroupState]
    return "".join(_rows((head, ["---"] * len(head), *rows)))


def _answer(error: int) -> str:
    return f"{error} {error_name(error)}" if error else "served"


def _rows(rows: Iterable[Iterable[str]]) -> Iterator[str]:
    for row in rows:
        yield f"| {' | '.join(row)} |\n"


def written(page: str) -> str:
    """Return the page with its part between the marks written anew; raise ValueError when a mark is missing."""
    return with_part(PAGE, page, BEGIN, f"{diagram()}\n{answers()}", END)


def write(root: Path) -> None:
    """Write the page below the repository's directory."""
    path = root / PAGE
    path.write_text(written(path.read_text()))


if __name__ == "__main__":
    write(Path(__file__).parents[2])
