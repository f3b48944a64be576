"""kproxy.upstream.names: who asks the name server, who waits for it, and what is done without an answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from kproxy.upstream import names
from kproxy.upstream.dial import shortage_of
from kproxy.upstream.names import (
    AGAIN,
    FRESH,
    LATELY,
    MOST,
    PATIENCE,
    REMEMBERED,
    SILENT,
    STALE,
    THREADS,
    addresses,
    doubt,
    unanswered,
)
from tests.unit.relay.sockets import no_descriptors

HOST, OTHER = "kafka.example", "other.example"
NOWHERE = socket.gaierror(socket.EAI_NONAME, "no such name")
_never = threading.Event()
NOBODY = socket.gaierror(socket.EAI_AGAIN, "try again")


class Resolver:
    """Answers lookups as `says` tells, by name; those of `HOST` wait while `speaks` is not set."""

    def __init__(self) -> None:
        self.says: dict[str, str | Exception] = {}
        self.asked: list[str] = []
        self.speaks = threading.Event()
        self.speaks.set()

    def look_up(self, host: str, port: int | None, **options: Any) -> list[Any]:
        if options.get("flags") == socket.AI_NUMERICHOST:
            raise NOWHERE
        answer, speaks = self.says.get(host, "192.0.2.1"), self.speaks
        self.asked.append(host)
        if host == HOST:
            assert speaks.wait(60)
        if isinstance(answer, Exception):
            raise answer
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answer, port or 0))]

    async def until_asked(self, times: int) -> None:
        """Wait until so many lookups have begun, in their threads."""
        while len(self.asked) < times:
            await trio.to_thread.run_sync(_never.wait, 0.001)


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Resolver]:
    """Yield what stands in for the C library's; at the end lookups that wait are freed."""
    made = Resolver()
    monkeypatch.setattr(socket, "getaddrinfo", made.look_up)
    yield made
    made.speaks.set()


async def led(host: str = HOST) -> tuple[str, int]:
    """Return where a dial of this name goes."""
    ((_, _, _, _, where),) = await addresses(host, 9092)
    return where[:2]


async def ended(under_way: int = 0) -> None:
    """Wait until no more than so many lookups of `HOST` are under way."""
    while names._names().of(HOST).under_way > under_way:
        await trio.to_thread.run_sync(_never.wait, 0.001)


async def hangs(resolver: Resolver, dials: int, lookups: int) -> None:
    """Dial `HOST` so many times, and give up once as many lookups wait for an answer."""
    resolver.speaks.clear()
    async with trio.open_nursery() as nursery:
        for _ in range(dials):
            nursery.start_soon(addresses, HOST, 9092)
        await resolver.until_asked(lookups)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()


async def test_all_share_one_lookup(resolver: Resolver) -> None:
    """Hundreds of dials, and those of the next seconds, ask once; another port is no other name."""
    async with trio.open_nursery() as nursery:
        for port in range(300):
            nursery.start_soon(addresses, HOST, port)
    assert await led() == ("192.0.2.1", 9092)
    assert resolver.asked == [HOST]


async def test_an_answer_is_taken_for_a_moment(resolver: Resolver, mock_clock: MockClock) -> None:
    """Then the name may lead elsewhere."""
    assert await led() == ("192.0.2.1", 9092)
    resolver.says[HOST] = "192.0.2.2"
    assert await led() == ("192.0.2.1", 9092)
    mock_clock.jump(FRESH)
    assert await led() == ("192.0.2.2", 9092)


async def test_a_doubt(resolver: Resolver) -> None:
    """After a dial that nobody has answered the name server is asked again."""
    await led()
    resolver.says[HOST] = "192.0.2.2"
    doubt(HOST)
    doubt("never heard of")
    assert await led() == ("192.0.2.2", 9092)


async def test_a_doubt_while_it_is_asked(resolver: Resolver) -> None:
    """What was asked before the doubt is for those who came before it; who comes later has it asked again."""
    resolver.speaks.clear()
    before = resolver.speaks
    async with trio.open_nursery() as nursery:
        nursery.start_soon(led)
        await resolver.until_asked(1)
        doubt(HOST)
        resolver.speaks, resolver.says[HOST] = threading.Event(), "192.0.2.2"
        resolver.speaks.set()
        assert await led() == ("192.0.2.2", 9092)
        before.set()
    assert await led() == ("192.0.2.2", 9092)


async def test_a_name_that_hangs(resolver: Resolver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of dials of it, each given up and begun anew, and another name is looked up at once."""
    monkeypatch.setattr(names, "AGAIN", 0.0)
    for _ in range(3):
        await hangs(resolver, 100, THREADS)
    assert await led(OTHER) == ("192.0.2.1", 9092)
    await trio.to_thread.run_sync(int)
    assert resolver.asked.count(HOST) == THREADS


async def test_a_lookup_that_was_lost(resolver: Resolver, mock_clock: MockClock) -> None:
    """It is asked beside the first, and the answer of either is taken."""
    resolver.speaks.clear()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(led)
        await resolver.until_asked(1)
        for _ in range(2):
            await wait_all_tasks_blocked()
            assert len(resolver.asked) == 1
            mock_clock.jump(AGAIN / 2)
        await resolver.until_asked(2)
        resolver.speaks.set()


async def test_when_no_name_server_answers(resolver: Resolver, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are no more threads than so many; further names fail at once, and no name takes them with its second."""
    monkeypatch.setattr(names, "AGAIN", 0.0)
    monkeypatch.setattr(names, "MOST", 2)
    await hangs(resolver, 10, 1)
    assert await led(OTHER) == ("192.0.2.1", 9092)
    monkeypatch.setattr(names, "MOST", 1)
    with pytest.raises(socket.gaierror, match="too many"):
        await addresses("third.example", 9092)
    assert resolver.asked == [HOST, OTHER]
    assert MOST > THREADS


async def test_the_old_address_without_an_answer(resolver: Resolver, mock_clock: MockClock) -> None:
    """The first dial waits for a moment, the next ones do not. An answer is used as soon as there is one."""
    await led()
    mock_clock.jump(FRESH)
    resolver.speaks.clear()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(led)
        await resolver.until_asked(2)
        await wait_all_tasks_blocked()
        mock_clock.jump(PATIENCE)
    assert await led() == ("192.0.2.1", 9092)
    assert not list(unanswered())  # it may be slow
    mock_clock.jump(SILENT)
    assert await led() == ("192.0.2.1", 9092)
    assert list(unanswered()) == [(HOST, FRESH + PATIENCE + SILENT)]
    await resolver.until_asked(3)
    resolver.speaks.set()
    await ended()
    assert not list(unanswered())
    mock_clock.jump(FRESH)
    resolver.says[HOST] = "192.0.2.2"
    assert await led() == ("192.0.2.2", 9092)


async def test_a_name_server_that_is_slow(resolver: Resolver, mock_clock: MockClock) -> None:
    """Its answer counts from when it came."""
    resolver.speaks.clear()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(led)
        await resolver.until_asked(1)
        mock_clock.jump(FRESH)
        resolver.speaks.set()
    await ended()
    asked = len(resolver.asked)
    assert await led() == ("192.0.2.1", 9092)
    assert len(resolver.asked) == asked


async def test_the_old_address_where_the_lookup_fails(resolver: Resolver, mock_clock: MockClock) -> None:
    """That no name server has answered may be known at once. An hour later the address counts no more."""
    await led()
    resolver.says[HOST] = NOBODY
    mock_clock.jump(FRESH)
    assert await led() == await led() == ("192.0.2.1", 9092)
    assert [name for name, _ in unanswered()] == [HOST]
    mock_clock.jump(LATELY)
    assert not list(unanswered())
    mock_clock.jump(STALE)
    await ended()
    with pytest.raises(socket.gaierror):
        await led()


async def test_the_old_address_without_a_thread(
    resolver: Resolver, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the threads of other names that hang nor the system's shortage keep a dial from where the name led.

    They say nothing about the name server, either, however long they last.
    """
    await led()
    mock_clock.jump(FRESH)
    with monkeypatch.context() as planted:
        planted.setattr(names, "MOST", 0)
        assert await led() == ("192.0.2.1", 9092)
    with monkeypatch.context() as planted:
        planted.setattr(trio.lowlevel, "start_thread_soon", refuse)
        assert await led() == ("192.0.2.1", 9092)
    mock_clock.jump(SILENT)
    resolver.says[HOST] = "192.0.2.2"
    assert await led() == ("192.0.2.2", 9092)
    assert not list(unanswered())


async def test_no_descriptors(resolver: Resolver, mock_clock: MockClock) -> None:
    """Then the resolver says that there is no such name, and does not know."""
    await led()
    mock_clock.jump(FRESH)
    resolver.says[HOST] = NOWHERE
    with no_descriptors():
        assert await led() == ("192.0.2.1", 9092)


async def test_a_name_that_is_gone(resolver: Resolver, mock_clock: MockClock) -> None:
    """This is an answer: nobody is led to the old address any more, also where none had come before."""
    await led()
    mock_clock.jump(FRESH)
    resolver.says[HOST] = NOBODY
    await led()
    await ended()
    resolver.says[HOST] = NOWHERE
    await led()
    await ended()
    for _ in range(2):
        with pytest.raises(socket.gaierror) as raised:
            await led()
        assert raised.value.errno == socket.EAI_NONAME
    assert not list(unanswered())


async def test_a_lookup_from_before(resolver: Resolver) -> None:
    """Its failure says nothing to a dial that came later: the way to the name server may be back since."""
    resolver.says[HOST] = NOBODY
    await hangs(resolver, 1, 1)
    resolver.says[HOST] = "192.0.2.3"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(led)
        await wait_all_tasks_blocked()
        resolver.speaks.set()
    assert await led() == ("192.0.2.3", 9092)


@pytest.mark.parametrize("newest", ["192.0.2.4", NOWHERE])
async def test_an_older_lookup_ends_last(
    resolver: Resolver, monkeypatch: pytest.MonkeyPatch, newest: str | Exception
) -> None:
    """What it brings is older than what is known, be that an address or that there is none."""
    monkeypatch.setattr(names, "AGAIN", 0.0)
    await hangs(resolver, 1, 1)
    first, resolver.speaks = resolver.speaks, threading.Event()
    resolver.speaks.set()
    resolver.says[HOST] = newest
    for _ in range(2):
        if isinstance(newest, str):
            assert await led() == (newest, 9092)
        else:
            with pytest.raises(socket.gaierror):
                await led()
        first.set()
        await ended()


def refuse(*_: Any) -> None:
    """As Python does where the system has no thread to give."""
    raise RuntimeError("can't start new thread")


async def test_no_thread_to_be_had(resolver: Resolver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's shortage is an error of a dial, and says nothing about the broker."""
    monkeypatch.setattr(trio.lowlevel, "start_thread_soon", refuse)
    with pytest.raises(OSError, match="no thread") as raised:
        await led()
    assert shortage_of(raised.value) is not None


async def test_several_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The dials of these seconds are spread; which of two families comes first is a preference, and stays."""
    found = {"alike": ["192.0.2.1", "192.0.2.2"], "both": ["2001:db8::1", "192.0.2.1"]}

    def look_up(host: str, *_: Any, **options: Any) -> list[Any]:
        if options.get("flags"):
            raise NOWHERE
        families = {True: socket.AF_INET6, False: socket.AF_INET}
        return [(families[":" in each], socket.SOCK_STREAM, 6, "", (each, 0)) for each in found[host]]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    firsts = {host: [(await addresses(host, 1))[0][4][0] for _ in range(4)] for host in found}
    assert sorted(firsts["alike"]) == ["192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.2"]
    assert firsts["both"] == ["2001:db8::1"] * 4


async def test_numbers_need_no_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address is its own."""
    monkeypatch.setattr(trio.lowlevel, "start_thread_soon", None)
    assert (await addresses("127.0.0.1", 9092))[0][4] == ("127.0.0.1", 9092)
    assert (await addresses("::1", 9092))[0][4][:2] == ("::1", 9092)


async def test_names_that_are_forgotten(resolver: Resolver, mock_clock: MockClock) -> None:
    """Those that were not used for longest, once there are so many."""
    for number in range(REMEMBERED + 1):
        await led(f"n{number}.example")
    await led("n1.example")
    assert len(resolver.asked) == REMEMBERED + 1
    await led("n0.example")
    assert len(resolver.asked) == REMEMBERED + 2


@pytest.mark.parametrize("host", ["a" * 64, "a..b"])
async def test_what_is_no_name(host: str) -> None:
    """Whatever a broker may advertise."""
    with pytest.raises(socket.gaierror):
        await addresses(host, 9092)
