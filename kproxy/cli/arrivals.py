# This module is pure (no I/O, no clock).
"""Which clients have come back after a failover, and which are still to come.

`kproxy failover --wait` asks the admin port for the clients before the switch and, again and again, after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Client = Mapping[str, Any]
"""As `/api/v1/clients` shows it."""
_MEANS = {"kip-899": "KIP-899", "no": "only by a restart"}


class Arrivals:
    """The clients from before; clients that nothing distinguishes count as one."""

    def __init__(self, before: Iterable[Client]) -> None:
        self._expected = {_identity(client): client for client in before}
        self._arrived: set[tuple[object, ...]] = set()

    def see(self, clients: Iterable[Client], since: str) -> None:
        """Take the clients of now: who has no connection from before `since` has arrived."""
        for client in clients:
            if client["since"] >= since and _identity(client) in self._expected:
                self._arrived.add(_identity(client))

    @property
    def missing(self) -> Sequence[Client]:
        """Who has not come back."""
        return [client for identity, client in self._expected.items() if identity not in self._arrived]

    @property
    def said(self) -> str:
        """How many are back, of all and by what brings them back."""
        total = Counter(str(client["rebootstrap"]) for client in self._expected.values())
        arrived = Counter(str(self._expected[identity]["rebootstrap"]) for identity in self._arrived)
        parts = [f"{_MEANS.get(means, means)}: {arrived[means]} of {count}" for means, count in sorted(total.items())]
        shown = f" ({', '.join(parts)})" if len(parts) > 1 else ""
        return f"{len(self._arrived)} of {len(self._expected)} clients are back{shown}"


def _identity(client: Client) -> tuple[object, ...]:
    names = ("host", "client_id", "principal", "software_name", "software_version")
    return tuple(client[name] for name in names)
