"""The plug-in of docs/telemetry.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import trio

from kproxy.telemetry.receivers.interface import Queued, Receiver


# example begins
class Log(Queued):
    """Appends a line for each push to a file."""

    def __init__(self, name: str, path: Path, labels: Mapping[str, str]) -> None:
        super().__init__(name, max_items=1000)
        self._path = path
        self._labels = labels

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        while True:
            pushes = await self.take(max_items=100, linger=0.1)
            await trio.to_thread.run_sync(self._write, pushes)
            self.delivered(*pushes)

    def _write(self, pushes: list[Any]) -> None:
        with self._path.open("a") as file:
            for push in pushes:
                file.write(f"{self._labels} {push.info.client_id} {len(push.payload)} {push.terminating}\n")


def log(name: str, options: Mapping[str, Any], labels: Mapping[str, str]) -> Receiver:
    """The entry point."""
    if set(options) != {"path"}:
        raise ValueError(f"{name}: takes `path` and nothing else, not {sorted(options)}")
    return Log(name, Path(options["path"]), labels)


# example ends
