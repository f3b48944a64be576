"""Keeps the records of groups in the state store.

`HostedGroups` makes one where the state survives a restart. Groups are written side by side, so that they share the
store's commits; of one group only the newest record that waits is written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio

from kproxy.coordinator.journal import Done
from kproxy.coordinator.records import GroupRecord, encode
from kproxy.observe.faults import boundary, guarded
from kproxy.observe.troubles import Troubles, Where
from kproxy.state.store import StateError

if TYPE_CHECKING:
    from kproxy.state.store import Store

WRITE_SECONDS: float = 10.0
"""The most time that a write may take; members wait for it."""

log = structlog.get_logger("kproxy.coordinator")


class StoreJournal:
    """Implements `kproxy.coordinator.journal.Journal`."""

    def __init__(
        self, store: Store, table: str, work: trio.Nursery, troubles: Troubles, acted: Callable[[], None]
    ) -> None:
        """`acted` is called after members were answered, because that may have set timers."""
        self._store = store
        self._table = table
        self._work = work
        self._troubles = troubles
        self._acted = acted
        self._newest: dict[str, GroupRecord | None] = {}
        """The records that wait, by group."""
        self._waiting: dict[str, list[Done]] = {}
        """Who waits for them; a group is here while a task writes its records."""

    def write(self, group_id: str, record: GroupRecord | None, done: Done, now: float) -> None:
        """Keep a record in place of the group's earlier one; None forgets the group."""
        del now
        self._newest[group_id] = record
        if group_id in self._waiting:
            self._waiting[group_id].append(done)
        else:
            self._waiting[group_id] = [done]
            self._work.start_soon(guarded, self._troubles, Where.STATE, partial(self._keep, group_id))

    async def _keep(self, group_id: str) -> None:
        """Write what there is of a group until nothing waits."""
        try:
            while waiting := self._waiting[group_id]:
                self._waiting[group_id] = []
                failure: str | None = "a fault in kproxy"
                with boundary(self._troubles, Where.STATE):
                    failure = await self._put(group_id, self._newest.pop(group_id))
                for done in waiting:
                    with boundary(self._troubles, Where.STATE):  # of one member, so that the others are answered
                        done(failure, trio.current_time())
                self._acted()
        finally:
            del self._waiting[group_id]

    async def _put(self, group_id: str, record: GroupRecord | None) -> str | None:
        """Write a record; return why it could not be written."""
        failure: str | None = f"the store did not answer within {WRITE_SECONDS:g} s"
        try:
            with trio.move_on_after(WRITE_SECONDS):
                if record is None:
                    await self._store.delete(self._table, group_id)
                else:
                    await self._store.put(self._table, group_id, encode(record))
                failure = None
        except StateError as error:
            failure = str(error)
        if failure is not None:
            log.error("a hosted group is not stored; its members join again", group=group_id, reason=failure)
        return failure
