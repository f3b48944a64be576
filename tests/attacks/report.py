"""What the attacks did: medians of the rounds, the goals, and whether each was met, as a Markdown table."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Final

from .attack import Attack
from .measured import Found

ADDED_GOAL: Final = 50
"""Milliseconds by which the healthy client's slowest request may be slower than without attack."""
GROWN_GOAL: Final = 64
"""MiB by which memory may grow."""
_HEADS: Final = (
    "attack",
    "row",
    "build",
    "p50",
    "p99",
    "slowest",
    "added",
    "busy",
    "/livez",
    "memory",
    "files",
    "",
    "",
)
_TEXT: Final = ("attack", "what it does", "build", "goals", "")

Rounds = Mapping[str, Mapping[str, Sequence[Found]]]
"""What was found, by attack and build."""


def missed(attack: Attack, rounds: Sequence[Found]) -> list[str]:
    """Return the goals that were missed, each as a word or two."""
    checks = {
        "slowest": statistics.median(one.added for one in rounds) > ADDED_GOAL,
        "/livez": any(one.attacked["livez"]["failed"] for one in rounds),
        "connection": any(one.attacked["relay"]["failed"] for one in rounds),
        "handshakes": any(one.attacked.get("greeted", {"failed": 0})["failed"] for one in rounds),
        "memory": statistics.median(one.grown for one in rounds) > GROWN_GOAL,
        "given back": any(one.given_back is None for one in rounds),
        "ended": not all(one.alive for one in rounds),
        "push": any(one.facts.get("push") != "kept" for one in rounds),
        "failed over": attack.upstreams and any(one.facts.get("upstream") != "first" for one in rounds),
    }
    return [what for what, so in checks.items() if so]


def cells(attack: Attack, build: str, rounds: Sequence[Found]) -> list[str]:
    """Return the table's cell for each column."""
    wrong = missed(attack, rounds)
    return [
        attack.name,
        str(attack.row or ""),
        build,
        *(f"{_of(rounds, 'quiet', key)} → {_of(rounds, 'attacked', key)}" for key in ("p50", "p99", "slowest")),
        _whole(one.added for one in rounds),
        _whole(one.busy for one in rounds),
        _livez(rounds),
        _memory(rounds),
        f"{max(one.files_peak for one in rounds):,}",
        "MISSED: " + ", ".join(wrong) if wrong else "met",
        "; ".join(_facts(rounds)),
    ]


def table(attacks: Sequence[Attack], rounds: Rounds) -> str:
    """Return all attacks and builds as a Markdown table whose columns line up."""
    lines: list[Sequence[str]] = [_HEADS]
    for attack in attacks:
        lines += [cells(attack, build, found) for build, found in rounds.get(attack.name, {}).items() if found]
    return _aligned(lines)


def summary(attacks: Sequence[Attack], rounds: Rounds) -> str:
    """Return one line for each attack, with the builds side by side: for docs/security.md."""
    builds = list(dict.fromkeys(build for found in rounds.values() for build in found))
    heads = [f"{what}, {build}" for what in ("slowest", "busy", "memory") for build in builds]
    lines: list[Sequence[str]] = [("attack", "what it does", *heads, *(f"missed, {build}" for build in builds))]
    for attack in attacks:
        chosen = [rounds.get(attack.name, {}).get(build, []) for build in builds]
        if all(chosen):
            figures = [
                *(f"{_of(found, 'quiet', 'slowest')} → {_of(found, 'attacked', 'slowest')}" for found in chosen),
                *(_whole(one.busy for one in found) for found in chosen),
                *(_memory(found) for found in chosen),
            ]
            judged = [", ".join(missed(attack, found)) for found in chosen]
            lines.append([f"`{attack.name}`", attack.does, *figures, *judged])
    return _aligned(lines)


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose columns line up; those of figures are flush right."""
    heads = lines[0]
    text = [head in _TEXT or head.startswith("missed") for head in heads]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = ["-" * width if left else "-" * (width - 1) + ":" for left, width in zip(text, widths, strict=True)]
    padded = [
        [cell.ljust(width) if left else cell.rjust(width) for cell, left, width in zip(line, text, widths, strict=True)]
        for line in lines
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in [padded[0], rule, *padded[1:]])


def _of(rounds: Sequence[Found], phase: str, key: str) -> str:
    values = [getattr(one, phase)["relay"].get(key) for one in rounds]
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    value = statistics.median(known)
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _whole(values: Iterable[float]) -> str:
    """Return the median without fraction."""
    median = statistics.median(values)
    return "never" if median == inf else f"{median:,.0f}"


def _livez(rounds: Sequence[Found]) -> str:
    slowest = _whole(one.attacked["livez"].get("slowest", inf) for one in rounds)
    failed = max(one.attacked["livez"]["failed"] for one in rounds)
    return slowest + (f", {failed} failed" if failed else "")


def _memory(rounds: Sequence[Found]) -> str:
    before, peak, after = (
        statistics.median(values)
        for values in zip(*((one.memory_before, one.memory_peak, one.memory_after) for one in rounds), strict=True)
    )
    return f"{before:,.0f} → {peak:,.0f} → {after:,.0f}"


def _facts(rounds: Sequence[Found]) -> list[str]:
    """Return each thing that was not as it should be, once."""
    said = []
    for one in rounds:
        if one.facts.get("push", "kept") != "kept":
            said.append(f"a legitimate push is {one.facts['push']}")
        if one.facts.get("upstream", "first") != "first":
            said.append("a healthy primary was failed over")
        if "greeted" in one.attacked:
            said.append(
                f"new connections: p99 {one.quiet['greeted']['p99']:.1f} → {one.attacked['greeted']['p99']:.1f} ms"
            )
        said += [f"{what}: {how}" for what, how in one.facts.get("answered", {}).items()]
        if one.facts.get("ready") is False:
            said.append("not ready")
    return list(dict.fromkeys(said))
