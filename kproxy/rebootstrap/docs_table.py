"""Writes the decision table as a page for people, docs/rebootstrap-table.md; run it by `python -m`.

A developer runs it when the table has changed; kproxy itself never does. A test fails while the page is out of date.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.rebootstrap.client_capabilities import RELEASES, Capability
from kproxy.rebootstrap.decisions import RULES, Place, Rule, Standing

PAGE: Final = Path("docs", "rebootstrap-table.md")

_INTRODUCTION: Final = """\
# Which clients must bootstrap again, and how they are notified

Written by `python -m kproxy.rebootstrap.docs_table` from the table that kproxy decides by; a test compares them. \
Exactly one line fits each combination. *Earlier* connections were accepted before the cluster's epoch last rose.
"""
_TRIGGERS: Final = {
    Trigger.HELLO: "ApiVersions",
    Trigger.ELSEWHERE: "ApiVersions v5 for another cluster or node",
    Trigger.METADATA: "Metadata ≥ 13",
    Trigger.COORDINATOR: "its group's coordinator",
    Trigger.OFFSETS: "OffsetFetch",
}
_ACTIONS: Final = {
    Action.SERVE: "what it asked for",
    Action.NOTIFY: "**129**, then closed",
    Action.CLOSE: "closed",
    Action.REFUSE: "refused",
    Action.NOT_COORDINATOR: "**16**, then closed",
}
_STANDINGS: Final = {
    Standing.UNKNOWN: "nothing is known of the client in this epoch",
    Standing.OWED: "an earlier connection of it was closed before it could be notified",
    Standing.NOTIFIED: "it got its 129; this lasts until the epoch ends",
    Standing.SHARED: "it, or a client that looks like it, got a 129, and there may be more of them",
    Standing.RECOVERED: "it got fresh metadata at the bootstrap listener, without a 129",
}
_CAPABILITIES: Final = {
    Capability.REBOOTSTRAPS: "knows Metadata 13, or is a release that does",
    Capability.RECOVERS: "bootstraps again once no node that it knows can be reached (KIP-899)",
    Capability.TOO_OLD: "keeps the nodes that it knows until it is restarted",
    Capability.UNKNOWN: "does not name its software, or one that is not in the list",
}


def page() -> str:
    """Return the page in Markdown."""
    parts = (
        [_INTRODUCTION],
        _rows(("Listener", "Connection", "It asks", "It is", "It can", "It gets", "Because"), map(_rule, RULES)),
        ["\n## What a client is\n"],
        _rows(("It is", "Meaning"), ((each.value, _STANDINGS[each]) for each in Standing)),
        ["\n## What a client can\n"],
        _rows(("It can", "Meaning"), ((each.value, _CAPABILITIES[each]) for each in Capability)),
        ["\nBy the name that it gives (KIP-511), until a Metadata request shows it:\n"],
        _rows(("Software", "From release", "It can"), _releases()),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def _rule(rule: Rule) -> tuple[str, ...]:
    return (
        _names(rule.places, Place),
        "any" if len(rule.stale) > 1 else "earlier" if True in rule.stale else "present",
        "anything"
        if len(rule.triggers) == len(Trigger)
        else ", ".join(_TRIGGERS[each] for each in Trigger if each in rule.triggers),
        _names(rule.standings, Standing),
        _names(rule.capabilities, Capability),
        _ACTIONS[rule.action],
        rule.why,
    )


def _names(some: Collection[StrEnum], among: type[StrEnum]) -> str:
    return "any" if len(some) == len(among) else ", ".join(each.value for each in among if each in some)


def _releases() -> Iterator[tuple[str, ...]]:
    for software, releases in RELEASES.items():
        for (major, minor), what in releases:
            yield f"`{software}`", "before" if (major, minor) == (0, 0) else f"{major}.{minor}", what.value


def _rows(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for row in (head, ("---",) * len(head), *rows):
        yield f"| {' | '.join(row)} |"


def write(root: Path) -> None:
    """Write the page into the source tree at `root`."""
    (root / PAGE).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parents[2])
