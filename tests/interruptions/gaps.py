"""What an interruption meant to a client: its longest time without success, and the errors that its user was shown."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.support.libraries import Library

BACK = 5.0
"""Seconds without success at the end of a watch, from which on a client counts as one that has not come back."""
WIDTH = 70
"""Characters of an error."""
_CODE = re.compile(r"KafkaError\{code=(\w+)")
_ADDRESS = re.compile(r"[\d.]+:\d+")


@dataclass(frozen=True, slots=True)
class Gap:
    """One role of a library in one interruption.

    `seconds`: the longest time without an acknowledged or a read record, None when it did not come back.
    `errors`: how often it showed its user each error.
    """

    library: Library
    kind: str
    case: str
    seconds: float | None
    errors: Mapping[str, int]


def longest(successes: Iterable[float], begun: float, ended: float) -> float | None:
    """Return the longest time without success between two moments; None when there was none at the end."""
    moments = [begun, *sorted(at for at in successes if begun < at < ended), ended]
    if moments[-1] - moments[-2] >= BACK:
        return None
    return max(after - before for before, after in itertools.pairwise(moments))


def error_name(said: str) -> str:
    """Return what one error has in common with others of its kind: librdkafka's code, or its first words."""
    if found := _CODE.search(said):
        return f"not delivered: {found[1]}" if said.startswith("not delivered") else found[1]
    words = _ADDRESS.sub("a broker", said.replace("|", "/").replace("\n", " "))
    return words if len(words) <= WIDTH else f"{words[: WIDTH - 1].rstrip()}…"


def table(libraries: Sequence[Library], cases: Sequence[str], gaps: Sequence[Gap]) -> str:
    """Return the gaps of producer and consumer by library and case, as Markdown."""
    head = [f"| client | {' | '.join(cases)} |", "|---" * (len(cases) + 1) + "|"]
    rows = (f"| {_named(one)} | {' | '.join(_cell(one, case, gaps) for case in cases)} |" for one in libraries)
    return "\n".join((*head, *rows))


def errors(gaps: Iterable[Gap]) -> str:
    """Return what users were shown, as Markdown: a row for each library, role and error, with the cases."""
    seen: dict[tuple[str, str, str], Counter[str]] = {}
    for gap in gaps:
        for error, count in gap.errors.items():
            seen.setdefault((_named(gap.library), gap.kind, error), Counter())[gap.case] += count
    if not seen:
        return "No application was shown an error."
    rows = (
        f"| {client} | {kind} | {error} | {', '.join(f'{case} × {count}' for case, count in by_case.items())} |"
        for (client, kind, error), by_case in seen.items()
    )
    return "\n".join(("| client | role | error | when |", "|---|---|---|---|", *rows))


def _cell(library: Library, case: str, gaps: Sequence[Gap]) -> str:
    found = {gap.kind: gap for gap in gaps if gap.library is library and gap.case == case}
    if not found:
        return "not tried"
    return ", ".join(_seconds(found[kind].seconds) for kind in ("producer", "consumer") if kind in found)


def _seconds(seconds: float | None) -> str:
    return "**not back**" if seconds is None else f"{seconds:.1f}"


def _named(library: Library) -> str:
    own = ", ".join(f"`{key}={value}`" for key, value in library.settings.get("all", {}).items())
    return f"{library.name} {library.version}" + (f", {own}" if own else "")
