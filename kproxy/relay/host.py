# This module is compiled.
"""What serves a connection: the pump, as a connection needs it."""

from __future__ import annotations

import socket
from abc import ABCMeta, abstractmethod
from typing import TYPE_CHECKING

from kproxy.observe.reasons import Reason
from kproxy.relay.deferred_work import Asking
from kproxy.relay.endpoint import Endpoint, EndpointOwner

if TYPE_CHECKING:
    from kproxy.protocol.outcomes import Incremental


class Host(metaclass=ABCMeta):
    """What a connection needs of the pump that serves it."""

    @abstractmethod
    def next_id(self) -> int:
        """A number that no connection had before."""

    @abstractmethod
    def endpoint(self, sock: socket.socket, connection: EndpointOwner, is_client: bool) -> Endpoint:
        """Watch a non-blocking socket on behalf of a connection."""

    @abstractmethod
    def receive(self, endpoint: Endpoint) -> memoryview:
        """What a socket has, in the buffer of all, so only until it is read into again; raises as `recv_into`."""

    @abstractmethod
    def work(self, connection: Asking, stepwise: Incremental) -> None:
        """Answer a request of the connection in steps, when there is time."""

    @abstractmethod
    def failed(self, endpoint: Endpoint, error: Exception) -> None:
        """Close the connection whose socket or whose turn it was, for the reason that the error stands for."""

    @abstractmethod
    def closed(self, number: int, reason: Reason, detail: str) -> None:
        """The connection of this number has closed."""
