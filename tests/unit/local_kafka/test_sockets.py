"""kproxy.local_kafka.ports: the socket watch sees the remote ports of a process."""

from __future__ import annotations

import os
import socket
from contextlib import closing

from kproxy.local_kafka.ports import SocketWatch
from tests.support.wait import until


def test_it_sees_a_connection_of_this_process() -> None:
    """A client's socket has a remote port, a listener has none. A port stays in the list after its socket is closed."""
    with socket.create_server(("127.0.0.1", 0)) as server, SocketWatch(os.getpid()) as watch:
        port = server.getsockname()[1]
        with closing(socket.create_connection(("127.0.0.1", port))):
            until(lambda: port in watch.peers, "the connection is seen", timeout=10)
        assert watch.sockets >= 1
    assert port in watch.peers


def test_a_process_that_is_gone() -> None:
    """A process that has ended raises no error."""
    watch = SocketWatch(2**22 + 1)
    watch.sample()
    assert (watch.peers, watch.sockets) == (set(), 0)
