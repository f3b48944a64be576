"""The topology events of a virtual cluster: logged, kept for the admin API, and handed to the event stream.

The reconciler, the failover controller and the rebootstrap service record them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import structlog

from kproxy.observe.events import OperatorCommand, Report, TopologyEvent, contents
from kproxy.observe.faults import boundary
from kproxy.observe.troubles import Troubles, Where

KEPT: Final = 200

log = structlog.get_logger("kproxy.cluster")


class Happened(NamedTuple):
    """An event, and when it happened, in seconds since the Unix epoch."""

    at: float
    event: TopologyEvent


class Events:
    """The newest events of one virtual cluster, oldest first."""

    def __init__(self, cluster: str, troubles: Troubles | None = None) -> None:
        """`troubles` are the process'; by default they are these events' own."""
        self._troubles = troubles or Troubles()
        self._cluster = cluster
        self._kept: deque[Happened] = deque(maxlen=KEPT)
        self.publish: Callable[[str, float, TopologyEvent | Report], None] | None = None
        """Puts an event, and when it happened, into the process' event stream; None without a destination."""

    def record(self, event: TopologyEvent) -> None:
        """Log, keep and publish an event."""
        happened = Happened(time.time(), event)
        self._kept.append(happened)
        log.warning(event.log, cluster=self._cluster, **event.log_fields())
        self._publish(happened.at, event)

    def report(self, event: Report) -> None:
        """Publish an event that comes often: it would fill the log, and what is kept."""
        self._publish(time.time(), event)

    def has_listener(self) -> bool:
        """Tell whether what is reported goes anywhere, for whoever would make many events for nobody."""
        return self.publish is not None

    def audit(self, event: OperatorCommand) -> None:
        """Log and publish an operator's command; what is kept is for what came of it."""
        log.info("operator command", cluster=self._cluster, **contents(event))
        self._publish(time.time(), event)

    def _publish(self, at: float, event: TopologyEvent | Report) -> None:
        if self.publish is not None:
            with boundary(self._troubles, Where.EVENTS):
                self.publish(self._cluster, at, event)

    @property
    def kept(self) -> Sequence[Happened]:
        """The events, oldest first."""
        return tuple(self._kept)
