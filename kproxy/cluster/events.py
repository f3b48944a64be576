"""What happened to a virtual cluster's topology: logged, told, and the newest kept for whoever asks."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import structlog

KEPT: Final = 200

log = structlog.get_logger("kproxy.cluster")


class Happened(NamedTuple):
    """`at` in seconds since the Unix epoch; `fields` as in the log line."""

    at: float
    event: str
    fields: dict[str, Any]


class Events:
    """The events of one virtual cluster, oldest first. `tell`, once there is an event stream, puts each into it."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._kept: deque[Happened] = deque(maxlen=KEPT)
        self.tell: Callable[[str, Happened], None] | None = None

    def record(self, event: str, **fields: Any) -> None:
        """Log it, keep it, tell it."""
        happened = Happened(time.time(), event, fields)
        self._kept.append(happened)
        log.warning(event, cluster=self._cluster, **fields)
        if self.tell is not None:
            self.tell(self._cluster, happened)

    @property
    def kept(self) -> Sequence[Happened]:
        return tuple(self._kept)
