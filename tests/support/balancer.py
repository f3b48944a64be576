"""A load balancer in front of kproxy, which says whose connections it passes on (PROXY protocol)."""

from __future__ import annotations

import selectors
import socket
import struct
import threading
from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import Final

from tests.support.beside import Beside

HOST: Final = "127.0.0.1"
_SIGNATURE: Final = b"\r\n\r\n\x00\r\nQUIT\n"
_CHUNK: Final = 64 << 10


def text_header(source: str) -> bytes:
    """A header of version 1 for a client at "address:port"."""
    address, _, port = source.rpartition(":")
    return f"PROXY TCP4 {address} {HOST} {port} 9092\r\n".encode()


def binary_header(source: str) -> bytes:
    """The same of version 2, with a TLV behind it that kproxy does not know."""
    address, _, port = source.rpartition(":")
    body = IPv4Address(address).packed + IPv4Address(HOST).packed + struct.pack(">HH", int(port), 9092)
    body += b"\xee\x00\x03abc"
    return _SIGNATURE + struct.pack(">BBH", 0x21, 0x11, len(body)) + body


class Balancer(Beside):
    """Passes connections on from ports to ports. Each begins with the header, in two pieces."""

    def __init__(self, ports: Mapping[int, int], header: bytes) -> None:
        super().__init__("balancer")
        self._header = header
        self._selector = selectors.DefaultSelector()
        self._listeners = {socket.create_server((HOST, near)): far for near, far in ports.items()}
        self._sockets: list[socket.socket] = []
        for listener in self._listeners:
            self._selector.register(listener, selectors.EVENT_READ)

    def _run(self) -> None:
        while not self._done.is_set():
            for key, _ in self._selector.select(0.05):
                assert isinstance(key.fileobj, socket.socket)
                client, _ = key.fileobj.accept()
                self._pass_on(client, self._listeners[key.fileobj])
        for sock in (*self._listeners, *self._sockets):
            sock.close()

    def _pass_on(self, client: socket.socket, port: int) -> None:
        try:
            far = socket.create_connection((HOST, port), 10)
        except OSError:
            client.close()
            return
        far.settimeout(None)
        self._sockets += (client, far)
        far.sendall(self._header[:9])
        far.sendall(self._header[9:])
        for source, target in ((client, far), (far, client)):
            threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while chunk := source.recv(_CHUNK):
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for sock in (source, target):
            sock.close()
