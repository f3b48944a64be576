"""Rooms of the admin port: pages keep neither probes nor commands out, and who holds a place for nothing loses it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
import trio

from kproxy.admin.limits import Limits
from kproxy.admin.models import ClientView, CommandResult
from tests.unit.admin.conftest import Start
from tests.unit.admin.memory_view import MemoryView, client_view
from tests.unit.admin.raw import everything_from, fetch

PAGE = b"GET /api/v1/clients HTTP/1.1\r\nHost: x\r\n\r\n"
COMMAND = b"POST /api/v1/clusters/main/rebootstrap HTTP/1.1\r\nHost: x\r\n\r\n"


@dataclass
class SlowView(MemoryView):
    """Its clients and its rebootstraps are only known when a test says so."""

    asked: int = 0
    go_on: trio.Event = field(default_factory=trio.Event)

    async def clients(self, cluster: str | None) -> Iterable[ClientView]:
        self.asked += 1
        await self.go_on.wait()
        return await super().clients(cluster)

    async def rebootstrap(self, cluster: str) -> CommandResult:
        self.asked += 1
        await self.go_on.wait()
        return await super().rebootstrap(cluster)


@pytest.fixture
def view() -> SlowView:
    return SlowView()


async def until_asked(view: SlowView, times: int) -> None:
    """Return when so many handlers are at work."""
    with trio.fail_after(40):
        while view.asked < times:  # noqa: ASYNC110 (asked over HTTP)
            await trio.sleep(0.001)


async def opened(port: int, sent: bytes) -> trio.SocketStream:
    """A connection on which this was sent."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    await stream.send_all(sent)
    return stream


class TestSlowPages:
    """With all rooms for pages taken."""

    async def test_the_next_one_gets_a_503(self, view: SlowView, start: Start) -> None:
        """When it has waited long enough, with the time to try again; probes and commands are served meanwhile."""
        port = await start(Limits(pages=2, queue_seconds=0.1))
        held = [await opened(port, PAGE) for _ in range(2)]
        await until_asked(view, 2)
        reply = await fetch(port, "/api/v1/clients")
        assert (reply.status, reply.headers["retry-after"]) == (503, "1")
        assert reply.json()["error"] == "2 pages are under way, and none ended within 0.1 s"
        assert (await fetch(port, "/livez")).status == 200
        assert (await fetch(port, "/metrics")).status == 200
        assert (await fetch(port, "/api/v1/clusters/main/failover", method="POST")).status == 200
        view.go_on.set()
        for stream in held:
            async with stream:
                with trio.fail_after(40):
                    assert b" 200 " in await stream.receive_some()

    async def test_a_long_queue_gets_it_at_once(self, view: SlowView, start: Start) -> None:
        """Whoever asked and left is not worked for later."""
        port = await start(Limits(pages=1, queue=2, queue_seconds=60))
        held = [await opened(port, PAGE) for _ in range(3)]
        await until_asked(view, 1)
        reply = await fetch(port, "/api/v1/clients")
        assert (reply.status, reply.json()["error"]) == (503, "1 pages are under way, and 2 wait")
        view.go_on.set()
        for stream in held:
            async with stream:
                with trio.fail_after(40):
                    assert b" 200 " in await stream.receive_some()

    async def test_it_is_served_when_one_ends_in_time(self, view: SlowView, start: Start) -> None:
        """Pages wait for each other."""
        port = await start(Limits(pages=1))
        found: list[int] = []

        async def ask() -> None:
            found.append((await fetch(port, "/api/v1/clients")).status)

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(ask)
            await until_asked(view, 1)
            view.go_on.set()
        assert found == [200] * 5

    async def test_nobody_ends_a_command(self, view: SlowView, start: Start) -> None:
        """However many come meanwhile: these share the places that are left, and the commands are carried out."""
        port = await start(Limits(connections=3, commands=2))
        busy = [await opened(port, COMMAND) for _ in range(2)]
        await until_asked(view, 2)
        held = [await opened(port, b"G") for _ in range(5)]
        for _ in range(5):
            assert (await fetch(port, "/livez")).status == 200
        view.go_on.set()
        for stream in busy:
            async with stream:
                with trio.fail_after(40):
                    assert b" 200 " in await stream.receive_some()
        assert len(view.commands) == 2
        for stream in held:
            await stream.aclose()


async def test_a_reader_that_takes_nothing_loses_its_room(view: SlowView, start: Start) -> None:
    """Only when another page waits for it: that one comes after `stall_seconds`, instead of `response_seconds`."""
    view.go_on.set()
    view.connected = [client_view(number) for number in range(2_000)]
    port = await start(Limits(pages=1, stall_seconds=0.05, response_seconds=60, queue_seconds=20))
    stream = trio.socket.socket()
    stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4096)
    await stream.connect(("127.0.0.1", port))
    silent = trio.SocketStream(stream)
    async with silent:
        await silent.send_all(PAGE.replace(b"clients ", b"clients?limit=1000 ") * 100)
        await until_asked(view, 1)
        with trio.fail_after(60):
            assert (await fetch(port, "/api/v1/clients?limit=1")).status == 200
        received = await everything_from(silent)
    assert received.count(b"HTTP/1.1 200 ") == 1
    assert not received.endswith(b"}\r\n0\r\n\r\n")
