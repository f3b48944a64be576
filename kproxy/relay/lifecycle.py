# This module is pure (no I/O, no clock) and compiled (by mypyc).
"""The life of a relayed connection: its states, and the events that lead from one to the next.

Each `Connection` has one `Lifecycle`, and hands it every event that may end the connection.

docs/design.md has the drawing. An event that the table does not have for a state changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from kproxy.observe.reasons import Reason


class State(IntEnum):
    """A connection goes through these in order; it may skip any but the last."""

    OPEN = 0
    """Both sides are read."""
    DRAINING = 1
    """The client is read to the end of the request under way."""
    ANSWERING = 2
    """The client is read no more; it gets the responses to what it sent."""
    FLUSHING = 3
    """The broker has closed: what it sent goes to the client."""
    CLOSED = 4
    """Both sockets are given up."""


class Event(IntEnum):
    """What moves a connection to its next state."""

    DRAIN = 0
    """kproxy wants the connection to end."""
    BETWEEN_REQUESTS = 1
    """No request is under way."""
    LAST_REQUEST = 2
    """A policy declared a request the connection's last, or the one behind it is at fault."""
    CLIENT_ENDED = 3
    """All that the client sent is read, to its FIN or reset. Brokers are not told yet: on a FIN they drop answers."""
    BROKER_ENDED = 4
    """The broker closed its sending side."""
    CLOSE = 5
    """Everything owed is out, or something went wrong."""


TRANSITIONS: Final[Mapping[tuple[State, Event], State]] = MappingProxyType(
    {
        (State.OPEN, Event.DRAIN): State.DRAINING,
        (State.OPEN, Event.LAST_REQUEST): State.ANSWERING,
        (State.OPEN, Event.CLIENT_ENDED): State.ANSWERING,
        (State.OPEN, Event.BROKER_ENDED): State.FLUSHING,
        (State.OPEN, Event.CLOSE): State.CLOSED,
        (State.DRAINING, Event.DRAIN): State.DRAINING,
        (State.DRAINING, Event.BETWEEN_REQUESTS): State.ANSWERING,
        (State.DRAINING, Event.LAST_REQUEST): State.ANSWERING,
        (State.DRAINING, Event.CLIENT_ENDED): State.ANSWERING,
        (State.DRAINING, Event.BROKER_ENDED): State.FLUSHING,
        (State.DRAINING, Event.CLOSE): State.CLOSED,
        (State.ANSWERING, Event.CLIENT_ENDED): State.ANSWERING,
        (State.ANSWERING, Event.BROKER_ENDED): State.FLUSHING,
        (State.ANSWERING, Event.CLOSE): State.CLOSED,
        (State.FLUSHING, Event.CLOSE): State.CLOSED,
    }
)


class Lifecycle:
    """One connection's state, and the reason for which it ends, once there is one."""

    __slots__ = ("reason", "state")

    def __init__(self) -> None:
        self.state = State.OPEN
        self.reason: Reason | None = None

    def take(self, event: Event, reason: Reason | None = None) -> bool:
        """Go to the next state; without a reason the earlier one stays. Returns whether the table has this step."""
        following = TRANSITIONS.get((self.state, event))
        if following is None:
            return False
        self.state = following
        self.reason = reason or self.reason
        return True
