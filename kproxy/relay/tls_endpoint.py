# This module is compiled (by mypyc).
"""An endpoint whose socket speaks TLS. The handshake is over when the pump makes one.

A read always takes whole records: what OpenSSL had decrypted and kept, epoll would not report.
"""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Sequence
from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Chunk
from kproxy.protocol.fault import Fault
from kproxy.relay.endpoint import Endpoint
from kproxy.relay.splice import PipePool

RECORD_BYTES: Final = 16 << 10
"""The most plaintext in one record of TLS."""


class TlsEndpoint(Endpoint):
    """As `Endpoint`; nothing is spliced from or to it."""

    __slots__ = ("_tls",)

    def __init__(self, sock: socket.socket, is_client: bool, epoll: select.epoll, pipes: PipePool) -> None:
        super().__init__(sock, is_client, epoll, pipes)
        assert isinstance(sock, ssl.SSLSocket)
        self._tls = sock
        self.plain = False
        self.receive = self._receive
        self._send = self._write

    def _receive(self, _: int) -> bytes:
        try:
            return self._tls.recv(RECORD_BYTES)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
            raise BlockingIOError from error

    def receive_into(self, buffer: memoryview) -> int:
        """As `Endpoint`: as many records as there are, up to one that is not full."""
        size, got = len(buffer), 0
        while size - got >= RECORD_BYTES:
            try:
                count = self._tls.recv_into(buffer[got:])
            except OSError as error:
                if got:  # it comes again with the next read
                    break
                if isinstance(error, ssl.SSLWantReadError | ssl.SSLWantWriteError):
                    raise BlockingIOError from error
                raise
            got += count
            if count < RECORD_BYTES:
                break
        return got

    def _write(self, chunk: Chunk) -> int:
        """Send a chunk: all of it or nothing. OpenSSL wants the same bytes again after nothing, as `flush` has them."""
        if not chunk:
            return 0
        try:
            return self._tls.send(chunk)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
            raise BlockingIOError from error

    def send_frame(self, size: bytes, chunks: Sequence[Chunk]) -> None:
        """As `Endpoint`: a vector would be a record for each chunk."""
        self.send(b"".join((size, *chunks)))

    def broken(self, error: OSError) -> Fault:
        """As `Endpoint`, with what TLS says."""
        reason = Reason.CLIENT_RESET if self.is_client else Reason.BROKER_RESET
        said = error.reason if isinstance(error, ssl.SSLError) else error.strerror
        return Fault(reason, said or type(error).__name__)
