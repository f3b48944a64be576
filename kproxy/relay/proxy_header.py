# This module is pure (no I/O, no clock).
"""Reads the header by which a load balancer says whose connection it passes on (PROXY protocol, versions 1 and 2).

The acceptor makes a `ProxyHeader` for each connection from a network of `proxy_protocol.networks`.
Source: the specification that comes with HAProxy, proxy-protocol.txt.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import Final

from kproxy.config.address import join_host_port
from kproxy.observe.reasons import Reason
from kproxy.protocol.fault import Fault

FIRST: Final = (b"PROXY ", b"\r\n\r\n\x00\r\nQUIT\n")
"""What a header of version 1 and of version 2 begins with."""
MOST: Final = 4096 + 16
"""The most bytes of a header: balancers add a few hundred bytes of what kproxy does not read (TLVs)."""
_TEXT, _BINARY = FIRST
_TEXT_MOST: Final = 107
"""As the specification says."""
_HEAD: Final = 16
"""Signature, version and command, family, and the length of what follows."""
_VERSION: Final = 2
_LOCAL, _PROXY = 0, 1
_TCP4, _TCP6 = 0x11, 0x21
_OTHERS: Final = frozenset({0x00, 0x12, 0x22, 0x31, 0x32})
"""Families that have no address of a TCP client: unspecified, UDP, and sockets of Unix."""
_MAX_PORT: Final = 65_535


class ProxyHeader:
    """One connection's header; `feed` it until it is `done`."""

    def __init__(self) -> None:
        self._held = b""
        self.done = False
        self.source: str | None = None
        """The client's own "host:port" once done; None for a connection of the balancer's own, as a health check."""

    def feed(self, chunk: bytes) -> int:
        """Take what came next; return how many bytes of it belong to the header. Raises `Fault` for what is none."""
        data = self._held + chunk
        size = _size(data)
        taken = len(chunk) if size is None else min(size, len(data)) - len(self._held)
        self._held += chunk[:taken]
        if len(self._held) == size:
            self.source = _source(self._held)
            self.done = True
        return taken


def _size(data: bytes) -> int | None:
    """Return the size of the header that begins so; None while that is not known, and all of it belongs to it."""
    if data.startswith(_BINARY[: len(data)]):
        if len(data) < _HEAD:
            return None
        size = _HEAD + int.from_bytes(data[_HEAD - 2 : _HEAD])
        if size > MOST:
            raise _wrong(f"it has {size} bytes; the most is {MOST}")
        return size
    if not data.startswith(_TEXT[: len(data)]):
        raise _wrong(f"the connection begins with {data[: len(_BINARY)]!r}")
    end = data.find(b"\r\n", 0, _TEXT_MOST)
    if end < 0 and len(data) >= _TEXT_MOST:
        raise _wrong(f"version 1 has at most {_TEXT_MOST} bytes")
    return None if end < 0 else end + 2


def _source(header: bytes) -> str | None:
    return _binary_source(header) if header.startswith(_BINARY) else _text_source(header)


def _text_source(header: bytes) -> str | None:
    words = header[:-2].decode("latin-1").split(" ")
    if words[1] == "UNKNOWN":
        return None
    kinds: dict[str, type[IPv4Address | IPv6Address]] = {"TCP4": IPv4Address, "TCP6": IPv6Address}
    if len(words) != 6 or words[1] not in kinds or b"%" in header:  # a zone of IPv6 may be any text
        raise _wrong(f"{header!r} is not PROXY TCP4|TCP6 and two addresses and ports")
    try:
        source, _ = (kinds[words[1]](word) for word in words[2:4])
    except ValueError as error:
        raise _wrong(str(error)) from error
    ports = [int(word) for word in words[4:] if word.isdecimal() and word.isascii() and int(word) <= _MAX_PORT]
    if len(ports) != 2:
        raise _wrong(f"{header!r} has no two ports")
    return _written(source, ports[0])


def _binary_source(header: bytes) -> str | None:
    version, command = header[12] >> 4, header[12] & 0x0F
    if version != _VERSION or command not in (_LOCAL, _PROXY):
        raise _wrong(f"version {version} and command {command} are not known")
    if command == _LOCAL:
        return None
    family, body = header[13], header[_HEAD:]
    if family in _OTHERS:
        return None
    size = {_TCP4: 4, _TCP6: 16}.get(family)
    if size is None or len(body) < 2 * size + 4:
        raise _wrong(f"family {family:#04x} with {len(body)} bytes")
    source = IPv4Address(body[:size]) if family == _TCP4 else IPv6Address(body[:size])
    return _written(source, int.from_bytes(body[2 * size : 2 * size + 2]))


def _written(source: IPv4Address | IPv6Address, port: int) -> str:
    mapped = source.ipv4_mapped if isinstance(source, IPv6Address) else None
    return join_host_port(str(mapped or source), port)  # mapped where IPv4 came to the balancer's IPv6 address


def _wrong(detail: str) -> Fault:
    return Fault(Reason.PROXY_HEADER, f"no PROXY header: {detail}")
