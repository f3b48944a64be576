# This module is compiled (by mypyc).
"""The interfaces of the pump and of a login under way, as a connection needs them.

`Pump` and `Renewal` implement them and each `Connection` calls them, so its module need not import theirs.
"""

from __future__ import annotations

import socket
from abc import ABCMeta, abstractmethod
from typing import TYPE_CHECKING, Protocol

from kproxy.observe.reasons import Reason
from kproxy.observe.troubles import Where
from kproxy.relay.deferred_work import Asking, Resting
from kproxy.relay.endpoint import Endpoint, EndpointOwner
from kproxy.relay.held_bytes import Holder

if TYPE_CHECKING:
    from kproxy.protocol.outcomes import Incremental


class Host(metaclass=ABCMeta):
    """What a connection needs from the pump that serves it."""

    done: float
    """When a connection last passed on what it read: seconds, monotonic."""

    @abstractmethod
    def next_id(self) -> int:
        """Return a number that no connection has had before."""

    @abstractmethod
    def endpoint(self, sock: socket.socket, connection: EndpointOwner, is_client: bool) -> Endpoint:
        """Watch a non-blocking socket on behalf of a connection."""

    @abstractmethod
    def receive(self, endpoint: Endpoint) -> memoryview:
        """Read from a socket into the shared buffer, which the next read overwrites; raises as `recv_into`."""

    @abstractmethod
    def work(self, connection: Asking, stepwise: Incremental) -> None:
        """Answer a request of the connection in steps, when there is time."""

    @abstractmethod
    def holds(self, connection: Holder, requests: int, responses: int) -> bool:
        """Note how many bytes a connection holds of both; returns whether it is counted. May close any connection."""

    @abstractmethod
    def go_on_later(self, connection: Resting) -> None:
        """Have the connection take what it holds back, in its turn."""

    @abstractmethod
    def throttle(self, number: int, until: float) -> None:
        """Have the connection of this number resumed at a moment: seconds, monotonic."""

    @abstractmethod
    def failed(self, endpoint: Endpoint, error: Exception) -> None:
        """Close the endpoint's connection, for the reason that fits the error."""

    @abstractmethod
    def fault(self, where: Where, error: Exception) -> None:
        """Note a fault in kproxy; never raises."""

    @abstractmethod
    def closed(self, number: int, reason: Reason, detail: str) -> None:
        """Take out the connection of this number, which has closed."""


class Renewing(Protocol):
    """kproxy's login on a connection whose broker ends sessions: it is under way between the client's requests."""

    def look(self) -> None:
        """Go on if the connection lets it now, or has ended."""

    def broker_ended(self) -> bool:
        """Note that the broker has closed; return whether that is the login's matter, which then ends the connection.

        The broker's answer, which may be a refusal, came before; it says why.
        """
