"""kproxy.upstream.names: a name whose servers do not answer takes no thread from another."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest
import trio

from kproxy.upstream import names
from kproxy.upstream.names import THREADS, addresses

ANSWER = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 9092))]


class Resolver:
    """Answers for every name but "hangs.example", and counts who asks at once."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.asked = 0

    def look_up(self, host: str, port: int, **options: Any) -> list[Any]:
        if options.get("flags") == socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "no address")
        if host == "hangs.example":
            self.asked += 1
            self.over.wait(30)
        return ANSWER


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """No lookup of another test is under way."""
    monkeypatch.setattr(names, "_limiters", {})


async def test_a_name_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of dials of it, each given up and begun anew, and another name is looked up at once."""
    resolver = Resolver()
    monkeypatch.setattr(socket, "getaddrinfo", resolver.look_up)
    try:
        for _ in range(3):
            with trio.move_on_after(0.05):
                async with trio.open_nursery() as nursery:
                    for _ in range(100):
                        nursery.start_soon(addresses, "hangs.example", 9092)
        with trio.fail_after(20):
            assert await addresses("other.example", 9092) == ANSWER
            await trio.to_thread.run_sync(int)
        assert resolver.asked == THREADS
    finally:
        resolver.over.set()


async def test_when_no_name_server_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are no more threads than so many; further names fail at once."""
    resolver = Resolver()
    monkeypatch.setattr(socket, "getaddrinfo", resolver.look_up)
    monkeypatch.setattr(names, "MOST", 2)
    try:
        with trio.move_on_after(0.05):
            async with trio.open_nursery() as nursery:
                for _ in range(2):
                    nursery.start_soon(addresses, "hangs.example", 9092)
        with pytest.raises(socket.gaierror, match="too many"):
            await addresses("other.example", 9092)
    finally:
        resolver.over.set()


async def test_numbers_need_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address is its own."""
    monkeypatch.setattr(trio.to_thread, "run_sync", None)
    assert (await addresses("127.0.0.1", 9092))[0][4] == ("127.0.0.1", 9092)
    assert (await addresses("::1", 9092))[0][4][:2] == ("::1", 9092)


async def test_names_that_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that nobody looks up at present do not stay."""
    monkeypatch.setattr(socket, "getaddrinfo", Resolver().look_up)
    for number in range(200):
        await addresses(f"n{number}.example", 1)
    assert len(names._limiters) < 100


@pytest.mark.parametrize("host", ["a" * 64, "a..b"])
async def test_what_is_no_name(host: str) -> None:
    """Whatever a broker may advertise."""
    with pytest.raises(socket.gaierror):
        await addresses(host, 9092)
