"""What was run, as it is kept in docs/clients.json: the page and a test are made from it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

KEPT: Final = Path("docs", "clients.json")
WAYS: Final = ("direct", "relayed", "hosted")
"""How a client reaches the brokers: without kproxy, through it, and through it with its group hosted."""
WORKS: Final = ""

Ways = Mapping[str, str]
"""By way: `WORKS`, or what the client says, in a line."""


@dataclass(frozen=True, slots=True)
class Runs:
    """All runs at one place, by client; the day is that of the last one, as 2026-12-01."""

    day: str = ""
    clients: Mapping[str, Ways] = field(default_factory=dict)

    def with_client(self, client: str, ways: Ways, day: str) -> Runs:
        """Return them with a client's in place of its former ones."""
        return replace(self, day=day, clients={**self.clients, client: ways})


Record = Mapping[str, Runs]
"""By place: the brokers' release and, where clients log in, the mechanism, as `3.9.2` and `3.9.2 PLAIN`."""


def with_login(place: str) -> bool:
    """Say whether clients log in there."""
    return " " in place


def differing(runs: Runs) -> list[tuple[str, str, str]]:
    """Return what works directly, and not through kproxy: client, way, and what the client says."""
    return [
        (client, way, says)
        for client, ways in runs.clients.items()
        for way, says in ways.items()
        if says != WORKS and ways["direct"] == WORKS
    ]


def dumped(record: Record) -> str:
    """Return the text of the file."""
    said = {place: {"day": one.day, "clients": one.clients} for place, one in record.items()}
    return json.dumps(said, indent=1) + "\n"


def loaded(text: str) -> Record:
    """Return the record of a file's text."""
    return {place: Runs(said["day"], said["clients"]) for place, said in json.loads(text).items()}
