"""Has OpenSSL return from a read after each record of TLS.

A peer may send as many KeyUpdate records as it likes (RFC 8446, 4.6.3). By default OpenSSL goes on to the next record
inside one read, and Python's module ssl has no setting for that (SSL_MODE_AUTO_RETRY): 1 MB/s of them from one client
would keep kproxy's only thread in a read that never returns. Without the mode such a read raises `SSLWantReadError`.
"""

from __future__ import annotations

import _ssl
import ctypes
import ssl
from typing import Final

_CLEAR_MODE: Final = 78
_GET_MODE: Final = 33
_AUTO_RETRY: Final = 4
"""SSL_CTRL_CLEAR_MODE, SSL_CTRL_MODE and SSL_MODE_AUTO_RETRY of OpenSSL's ssl.h; they are part of its ABI."""
_SSL_AT: Final = 24
_CONTEXT_AT: Final = 32
"""Where CPython's object for a connection has OpenSSL's, and the module's context: behind its head and its socket."""


def return_after_each_record(sock: ssl.SSLSocket) -> bool:
    """Return whether reads of this socket will; False where this Python's objects are not laid out as is known here."""
    connection = sock._sslobj  # type: ignore[attr-defined]
    if _ctrl is None or connection is None or type(connection).__basicsize__ < _CONTEXT_AT + 8:
        return False
    if ctypes.c_void_p.from_address(id(connection) + _CONTEXT_AT).value != id(sock.context):
        return False
    pointer = ctypes.c_void_p.from_address(id(connection) + _SSL_AT)
    _ctrl(pointer, _CLEAR_MODE, _AUTO_RETRY, None)
    return not _ctrl(pointer, _GET_MODE, 0, None) & _AUTO_RETRY


def _control() -> ctypes._NamedFuncPointer | None:
    """Return SSL_ctrl of the OpenSSL that the module ssl uses; None where it cannot be had."""
    try:
        found = ctypes.CDLL(_ssl.__file__).SSL_ctrl
    except (AttributeError, OSError):
        return None
    found.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_long, ctypes.c_void_p)
    found.restype = ctypes.c_long
    return found


_ctrl: Final = _control()
