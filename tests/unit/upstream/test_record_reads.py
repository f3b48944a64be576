"""kproxy.upstream.record_reads: OpenSSL's mode is changed where this Python's objects are as known, and else not."""

from __future__ import annotations

import _ssl
import socket
import ssl
from collections.abc import Iterator

import pytest

from kproxy.upstream import record_reads
from kproxy.upstream.record_reads import return_after_each_record


@pytest.fixture
def sock() -> Iterator[ssl.SSLSocket]:
    """A TLS socket before its handshake."""
    context = ssl.create_default_context()
    context.check_hostname = False
    plain, far = socket.socketpair()
    with far, context.wrap_socket(plain, do_handshake_on_connect=False) as wrapped:
        yield wrapped


def test_of_this_python(sock: ssl.SSLSocket) -> None:
    """Every Python that kproxy runs on has it."""
    assert return_after_each_record(sock)


@pytest.mark.parametrize(("name", "value"), [("_ctrl", None), ("_CONTEXT_AT", 16), ("_CONTEXT_AT", 1 << 20)])
def test_of_an_unknown_python(sock: ssl.SSLSocket, monkeypatch: pytest.MonkeyPatch, name: str, value: object) -> None:
    """Nothing is touched where the context is not found beside the connection."""
    monkeypatch.setattr(record_reads, name, value)
    assert not return_after_each_record(sock)


def test_an_openssl_without_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the module ssl has it built in."""
    monkeypatch.setattr(_ssl, "__file__", "/nowhere.so")
    assert record_reads._control() is None
