"""A telemetry receiver of another package whose errors say more than they should: its options, which may be secret."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import trio

from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.interface import Queued, Receiver


class Leaky(Queued):
    """Raises at the first pushes, then fails to run; each time with its options in the exception and in the log."""

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        super().__init__(name, max_items=1000)
        self._options = dict(options)

    def offer(self, push: Push) -> bool:
        logging.getLogger("leaky").warning("a push for %s", self._options)
        if self.counters.offered > 1:
            raise LookupError(f"offer: {self._options}")
        return super().offer(push)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        await self.take(max_items=1, linger=0)
        self.failed(f"cannot deliver with {self._options}")
        raise PermissionError(f"run: {self._options!r}")


def leaky(name: str, options: Mapping[str, Any], labels: Mapping[str, str]) -> Receiver:
    """The entry point."""
    if "refused" in options:
        raise KeyError(f"no such option: {dict(options)}")
    return Leaky(name, options)
