# This module is compiled (by mypyc).
"""An endpoint whose socket speaks TLS. The handshake is over when the pump makes one.

A read always takes whole records: what OpenSSL had decrypted and kept, epoll would not report.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import Chunk
from kproxy.protocol.fault import Fault
from kproxy.relay.endpoint import Endpoint
from kproxy.relay.splice import PipePool
from kproxy.upstream.tls import said

RECORD_BYTES: Final = 16 << 10
"""The most plaintext in one record of TLS."""
_RECORDS: Final = 64
"""The most records of one read: each costs the same time, and may have a single byte."""


class TlsEndpoint(Endpoint):
    """As `Endpoint`; nothing is spliced from or to it."""

    __slots__ = ("_late", "_tls")

    def __init__(self, sock: socket.socket, is_client: bool, epoll: select.epoll, pipes: PipePool) -> None:
        super().__init__(sock, is_client, epoll, pipes)
        assert isinstance(sock, ssl.SSLSocket)
        self._tls = sock
        self._late: OSError | None = None
        """The end, found by a read that had something to return: OpenSSL reports it properly only once."""
        self.plain = False
        self.receive = self._receive
        self._send = self._write

    def _receive(self, _: int) -> bytes:
        try:
            if self._late is not None:
                raise self._late
            return self._tls.recv(RECORD_BYTES)
        except OSError as error:
            self._end(error)
            return b""

    def receive_into(self, buffer: memoryview) -> int:
        """As `Endpoint`: as many records as there are and fit, up to a limit; epoll reports the others again."""
        size, got, records = len(buffer), 0, 0
        while size - got >= RECORD_BYTES and records < _RECORDS:
            records += 1
            try:
                if self._late is not None:
                    raise self._late
                count = self._tls.recv_into(buffer[got:])
            except OSError as error:
                if not got:
                    self._end(error)
                    return 0
                if not isinstance(error, ssl.SSLWantReadError | ssl.SSLWantWriteError):
                    self._late = error
                    self._have_reported()
                break
            if not count:
                if got:  # its next read finds it again
                    self._have_reported()
                break
            got += count
        return got

    def _have_reported(self) -> None:
        """Have epoll report the end, which is found behind what the next read returns: it knows of nothing in TLS."""
        with suppress(OSError):  # a reset it reports by itself
            socket.socket.shutdown(self._tls, socket.SHUT_RD)

    def _end(self, error: OSError) -> None:
        """Return where the peer has ended its side by a FIN; raise what a plain socket would, and what TLS says."""
        if isinstance(error, ssl.SSLWantReadError | ssl.SSLWantWriteError):
            raise BlockingIOError from error
        if not isinstance(error, ssl.SSLEOFError):
            raise error
        if getattr(error, "reason", None) is None:  # the module ssl forgets the errno
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET)) from error

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
        return Fault(reason, said(error) if isinstance(error, ssl.SSLError) else error.strerror or type(error).__name__)
