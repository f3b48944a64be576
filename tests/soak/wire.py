"""A client's socket with an address of its own: clients of one machine come from 127.0.0.2, 127.0.0.3, and so on.

So hostile clients do not use up what an address of the good ones may have.
"""

from __future__ import annotations

import socket

HOST = "127.0.0.1"
GOOD, HOSTILE, STORMING = "127.0.0.2", "127.0.0.66", "127.0.0.67"
PATIENCE = 5.0


def connected(port: int, source: str, *, receive_buffer: int = 0, timeout: float = PATIENCE) -> socket.socket:
    """Return a connected socket. OSError where it is refused."""
    made = socket.socket()
    try:
        if receive_buffer:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        made.settimeout(timeout)
        made.bind((source, 0))
        made.connect((HOST, port))
    except BaseException:
        made.close()
        raise
    return made


def response(sock: socket.socket) -> bytes:
    """Return the next response with its correlation id. EOFError where the connection ends before."""
    size = int.from_bytes(_exactly(sock, 4), "big")
    return _exactly(sock, size)


def _exactly(sock: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        part = sock.recv(min(size - len(received), 1 << 16))
        if not part:
            raise EOFError(f"closed after {len(received)} of {size} bytes")
        received += part
    return bytes(received)
