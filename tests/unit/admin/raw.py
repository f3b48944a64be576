"""HTTP as bytes on a socket, so that a test may be as wrong as it likes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import h11
import trio

DEADLINE = 40


@dataclass(frozen=True)
class Reply:
    """A response that h11, as a client, read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


async def everything_from(stream: trio.SocketStream) -> bytes:
    """All bytes until the server ends the connection."""
    received = bytearray()
    with trio.fail_after(DEADLINE):
        async for data in stream:
            received += data
    return bytes(received)


async def exchange(port: int, sent: bytes, *, close_our_side: bool = False, source: str = "127.0.0.1") -> bytes:
    """Send bytes on a new connection, from this address, and read until the server closes it."""
    stream = await trio.open_tcp_stream("127.0.0.1", port, local_address=source)
    async with stream:
        await stream.send_all(sent)
        if close_our_side:
            await stream.send_eof()
        return await everything_from(stream)


def replies(received: bytes, *methods: str) -> list[Reply]:
    """The responses to requests of these methods (GET when none is given), and nothing after them."""
    found = []
    for method in methods or ("GET",):
        client = h11.Connection(h11.CLIENT)
        client.send(h11.Request(method=method, target="/", headers=[("Host", "x")]))
        client.send(h11.EndOfMessage())
        client.receive_data(received)
        client.receive_data(b"")
        reply, received = _one(client)
        found.append(reply)
    assert received == b""
    return found


def _one(client: h11.Connection) -> tuple[Reply, bytes]:
    body = bytearray()
    head = client.next_event()
    while isinstance(head, h11.InformationalResponse):
        head = client.next_event()
    assert isinstance(head, h11.Response), head
    while isinstance(event := client.next_event(), h11.Data):
        body += event.data
    assert isinstance(event, h11.EndOfMessage), event
    headers = {name.decode(): value.decode() for name, value in head.headers}
    return Reply(head.status_code, headers, bytes(body)), client.trailing_data[0]


async def fetch(port: int, target: str, *headers: str, method: str = "GET") -> Reply:
    """One request on a connection of its own."""
    lines = [f"{method} {target} HTTP/1.1", "Host: kproxy", "Connection: close", *headers, "", ""]
    received = await exchange(port, "\r\n".join(lines).encode("latin-1"))
    return replies(received, method)[0]
