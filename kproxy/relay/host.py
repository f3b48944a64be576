# This module is compiled (by mypyc).
"""The interface of the pump, as a connection needs it.

`Pump` implements it and each `Connection` calls it, so the connection's module need not import the pump's.
"""

from __future__ import annotations

import socket
from abc import ABCMeta, abstractmethod
from typing import TYPE_CHECKING

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
    def failed(self, endpoint: Endpoint, error: Exception) -> None:
        """Close the endpoint's connection, for the reason that fits the error."""

    @abstractmethod
    def fault(self, where: Where, error: Exception) -> None:
        """Note a fault in kproxy; never raises."""

    @abstractmethod
    def closed(self, number: int, reason: Reason, detail: str) -> None:
        """Take out the connection of this number, which has closed."""
