# This module is pure.
"""The plans of all clients, and which of them hold numbers that are not settled yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from kproxy.telemetry.receivers.plan import Plan, Step, plan
from kproxy.telemetry.receivers.series import Source

if TYPE_CHECKING:
    from kproxy.telemetry.instance import ClientInfo
    from kproxy.telemetry.layout import Words


class Plans:
    """One for each client whose last push has one."""

    def __init__(self) -> None:
        self._plans: dict[UUID, Plan] = {}
        self._unsettled: dict[Plan, None] = {}

    def make(self, info: ClientInfo, words: Words, payload: bytes, taken: Sequence[Step | None]) -> None:
        """Of a push whose client's earlier ones are settled, if it can have one: `plan` says when."""
        made = plan(info, words, payload, taken)
        if made is not None:
            self._plans[info.client_instance_id] = made

    def take(self, info: ClientInfo, words: Words | None, payload: bytes, now: float) -> tuple[Source, int] | None:
        """Take a push in; returns whose it was, and how many numbers were invalid, or None for one without a plan."""
        found = self._plans.get(info.client_instance_id)
        if found is None or (invalid := found.take(info, words, payload, now)) is None:
            return None
        self._unsettled[found] = None
        return found.source, invalid

    def settling(self) -> Iterator[None]:
        """Brings what was taken to its points; each step takes 50 microseconds."""
        while self._unsettled:
            self._unsettled.popitem()[0].settle()
            yield

    def settle(self, client: UUID) -> None:
        """Bring what was taken of one client to its points."""
        found = self._plans.get(client)
        if found is not None:
            self._unsettled.pop(found, None)
            found.settle()

    def drop(self, client: UUID) -> None:
        """Settle, and have no plan: before any of its points goes."""
        self.settle(client)
        self._plans.pop(client, None)
