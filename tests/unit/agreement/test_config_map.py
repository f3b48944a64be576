"""Orders in a ConfigMap, at an API server of the test's own: what is written, followed, refused and made good again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import structlog.testing
import trio

from kproxy.agreement.config_map import ConfigMap
from kproxy.agreement.failover_record import FailoverRecord
from kproxy.agreement.order import Order, decode_order, encode_order
from kproxy.cluster.agreement import Agreement
from kproxy.errors import UpstreamError
from kproxy.observe.troubles import Troubles
from kproxy.state.store import MemoryStore
from tests.unit.agreement.api_server import FakeApiServer, Reply, Request, status
from tests.unit.state.keeping import kept_in

STAY = FailoverRecord(1, "id")
FIRST = Order("orders", 1, "west", STAY, "a", "operator", 1.5)
SECOND = replace(FIRST, number=2, upstream="east")
NAME = "kproxy-orders"


@pytest.fixture
async def server(tmp_path: Path, nursery: trio.Nursery) -> FakeApiServer:
    """An API server."""
    made = FakeApiServer(tmp_path)
    await nursery.start(made.run)
    return made


def place(server: FakeApiServer, cluster: str = "orders") -> ConfigMap:
    """As a replica has it."""
    return ConfigMap(NAME, cluster, server.client)


def text(order: Order) -> str:
    """Return the value that has an order."""
    return encode_order(order).decode()


def kept(server: FakeApiServer, cluster: str = "orders") -> Order:
    """Return the order that the ConfigMap has."""
    return decode_order(server.maps[NAME]["data"][cluster].encode())


@dataclass
class Followed:
    """What a follower was given; `ended` is why it ended."""

    place: ConfigMap
    orders: list[Order] = field(default_factory=list)
    reads: int = 0
    ended: str | None = None

    async def run(self) -> None:
        """Follow until it ends."""
        try:
            await self.place.follow(self.orders.append, self._read)
        except UpstreamError as error:
            self.ended = str(error)

    def _read(self) -> None:
        self.reads += 1


@asynccontextmanager
async def following(server: FakeApiServer, cluster: str = "orders") -> AsyncIterator[Followed]:
    """A follower that watches."""
    async with trio.open_nursery() as nursery:
        followed, before = Followed(place(server, cluster)), server.watches
        nursery.start_soon(followed.run)
        await until(lambda: server.watches > before)
        yield followed
        nursery.cancel_scope.cancel()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for it."""
    with trio.fail_after(20):
        while not condition():  # noqa: ASYNC110  (what is waited for has no event)
            await trio.sleep(0.01)


async def test_the_first_order(server: FakeApiServer) -> None:
    """The ConfigMap is created without data; what is written then comes to whoever watches, at once."""
    async with following(server) as one, following(server) as other:
        assert (server.maps[NAME]["data"], one.orders, one.reads) == ({}, [], 1)
        await place(server).write(FIRST)
        await place(server, "bills").write(replace(FIRST, cluster="bills"))
        await until(lambda: one.orders == other.orders == [FIRST])
        await place(server).write(SECOND)
        await until(lambda: one.orders == other.orders == [FIRST, SECOND])
        assert (one.reads, kept(server), kept(server, "bills").cluster) == (1, SECOND, "bills")
    assert set(server.verbs) == {"get", "watch", "patch"}


async def test_one_that_starts_later(server: FakeApiServer) -> None:
    """It has the order before `read` is called, and none of another virtual cluster."""
    server.put(NAME, {"orders": text(FIRST), "bills": text(replace(FIRST, cluster="bills"))})
    seen: list[object] = []
    with trio.move_on_after(0.5):
        await place(server).follow(seen.append, lambda: seen.append("read"))
    assert seen == [FIRST, "read"]


async def test_a_lower_order(server: FakeApiServer) -> None:
    """It does not replace a higher one, nor does an order itself: nothing is written."""
    server.put(NAME, {"orders": text(SECOND)})
    for order in (FIRST, replace(SECOND, replica="A"), SECOND):
        await place(server).write(order)
    assert (server.verbs, kept(server)) == (["get"] * 3, SECOND)


async def test_a_conflict(server: FakeApiServer) -> None:
    """What another replica writes between the read and the write is read, and stays if it is higher."""
    server.put(NAME, {"orders": text(FIRST)})
    rivals = [replace(FIRST, replica="b"), replace(SECOND, number=3)]

    def race(request: Request) -> Reply | None:
        if request.method == "PATCH" and rivals:
            server.put(NAME, {"orders": text(rivals.pop(0)), "bills": "theirs"})
        return None

    server.behaviour = race
    await place(server).write(SECOND)
    assert server.verbs == ["get", "patch", "get", "patch", "get"]
    assert (kept(server).number, server.maps[NAME]["data"]["bills"]) == (3, "theirs")
    await place(server).write(replace(SECOND, number=4))
    assert (kept(server).number, server.maps[NAME]["data"]["bills"]) == (4, "theirs")


async def test_conflicts_without_end(server: FakeApiServer) -> None:
    """They end in one line."""
    server.behaviour = lambda request: status(409, "modified") if "patch" in request.verb else None
    server.put(NAME, {})
    with pytest.raises(UpstreamError, match="ConfigMap kproxy-orders: others wrote at the same moment, 8 times"):
        await place(server).write(FIRST)


async def test_two_writers(server: FakeApiServer) -> None:
    """Of many orders at once the highest is there in the end."""
    orders = [replace(FIRST, number=number, replica=name) for number in (1, 2) for name in "abc"]
    async with trio.open_nursery() as nursery:
        for order in orders:
            nursery.start_soon(place(server).write, order)
    assert kept(server).rank == (2, "c")


FORBIDDEN = 'configmaps "kproxy-orders" is forbidden: User "u" cannot do it'


@pytest.mark.parametrize("verb", ["get", "patch", "watch"])
async def test_what_rbac_refuses(server: FakeApiServer, verb: str) -> None:
    """Whichever verb is lacking, the error says what the server says, and what the Role must have."""
    server.behaviour = lambda request: status(403, FORBIDDEN) if request.verb == verb else None
    followed = Followed(place(server))
    await followed.run()
    assert followed.ended == (
        f"ConfigMap kproxy-orders: {FORBIDDEN}; give its service account a Role with the verbs get, watch, patch and "
        "create for configmaps with resourceNames [kproxy-orders], as the chart does"
    )


async def test_what_the_server_refuses_otherwise(server: FakeApiServer) -> None:
    """The error says what the server says, and nothing of rights."""
    server.behaviour = lambda _: status(503, "apiserver not ready")
    with pytest.raises(UpstreamError) as raised:
        await place(server).write(FIRST)
    assert str(raised.value) == "ConfigMap kproxy-orders: apiserver not ready"


async def test_a_token_that_is_renewed(server: FakeApiServer) -> None:
    """The file is read for each request; an old token is an error that names the files."""
    async with following(server) as followed:
        server.renew("second")
        await place(server).write(FIRST)
        await until(lambda: followed.orders == [FIRST])
        server.end_watches()
        await until(lambda: server.watches == 1)
        assert {request.token for request in server.requests} == {"first", "second"}
    server.token = "third"
    with pytest.raises(UpstreamError, match="Unauthorized: the API server does not accept the token in /"):
        await place(server).write(SECOND)


def _expired(server: FakeApiServer) -> None:
    server.tell(NAME, "ERROR", {"kind": "Status", "code": 410})


def _ended(server: FakeApiServer) -> None:
    server.end_watches()


def _broken(server: FakeApiServer) -> None:
    server.send(NAME, b"")


@pytest.mark.parametrize("end", [_expired, _ended, _broken])
async def test_a_watch_that_ends(server: FakeApiServer, end: Callable[[FakeApiServer], None]) -> None:
    """An expired version, the time, or a server that goes: it is read again, and no order is missed."""
    async with following(server) as followed:
        end(server)
        server.end_watches()
        server.put(NAME, {"orders": text(FIRST)})
        await until(lambda: followed.orders == [FIRST])
        await until(lambda: server.watches == 1)
        server.put(NAME, {"orders": text(SECOND)})
        await until(lambda: followed.orders == [FIRST, SECOND])
        assert (followed.reads, followed.ended) == (1, None)


async def test_a_version_that_is_too_old(server: FakeApiServer) -> None:
    """410 in place of a watch: it is read again."""
    refused: list[Request] = []

    def too_old(request: Request) -> Reply | None:
        if request.verb == "watch" and not refused:
            refused.append(request)
            return status(410, "too old resource version")
        return None

    server.behaviour = too_old
    async with following(server) as followed:
        server.put(NAME, {"orders": text(FIRST)})
        await until(lambda: followed.orders == [FIRST])
    assert server.verbs == ["get", "patch", "watch", "get", "watch"]


STRANGE = ["", "{}", "\udcff", json.dumps([1]), text(replace(FIRST, cluster="bills"))]


@pytest.mark.parametrize("value", STRANGE)
async def test_what_is_no_order(server: FakeApiServer, value: str) -> None:
    """It is left out, with one line in the log, and replaced by an order."""
    server.put(NAME, {"orders": value})
    with structlog.testing.capture_logs() as log:
        async with following(server) as followed:
            for _ in range(2):
                server.put(NAME, {"orders": value})
            await followed.place.write(FIRST)
            await until(lambda: followed.orders == [FIRST])
    assert [line["event"] for line in log if line["log_level"] == "warning"] == ["a value is left out"]
    assert kept(server) == FIRST


async def test_an_order_of_a_later_kproxy(server: FakeApiServer) -> None:
    """An older replica says so, and does not replace it, though it does not know what is active."""
    async with following(server) as followed:
        server.put(NAME, {"orders": json.dumps({"version": 2, "order": 1})})
        await until(lambda: followed.ended is not None)
        assert followed.ended == "ConfigMap kproxy-orders has an order of version 2; this kproxy knows 1: update it"
    server.requests.clear()
    with pytest.raises(UpstreamError, match="kproxy-orders has an order of version 2; this kproxy knows 1: update it"):
        await place(server).write(SECOND)
    assert "patch" not in server.verbs


@pytest.mark.parametrize(
    "answer", [b"", b"<html>", b"{}", b'{"kind": "ConfigMap"}', b'{"kind": "ConfigMap", "metadata": {}}']
)
async def test_an_answer_that_is_none(server: FakeApiServer, answer: bytes) -> None:
    """Whatever speaks at that address: one line."""
    server.behaviour = lambda _: (200, answer)
    with pytest.raises(
        UpstreamError, match="ConfigMap kproxy-orders: the API server's answer cannot be read"
    ) as raised:
        await place(server).write(FIRST)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("line", [b"{\n", b'{"type": "BOOKMARK"}\n', b'{"type": "ADDED", "object": {}}\n'])
async def test_a_watch_of_garbage(server: FakeApiServer, line: bytes) -> None:
    """It ends the following, which begins anew."""
    async with following(server) as followed:
        server.send(NAME, line)
        await until(lambda: followed.ended is not None)
        assert "the API server's answer cannot be read" in (followed.ended or "")


async def test_an_order_that_is_taken_out(server: FakeApiServer) -> None:
    """Whether it is gone, or a lower one is there: the following ends, and says so."""
    for data in ({}, {"orders": text(FIRST)}, {"orders": "?"}):
        server.put(NAME, {"orders": text(SECOND)})
        async with following(server) as followed:
            server.put(NAME, data)
            await until(lambda: followed.ended is not None)
            assert followed.ended == "ConfigMap kproxy-orders: order 2 was taken out of it; it is written again"


async def test_a_config_map_that_is_deleted(server: FakeApiServer) -> None:
    """Replicas say so, create it again and write the order that they know; so they do for data that were reset."""
    places = [{"config_map": place(server)} for _ in range(2)]
    one, other = (Agreement("orders", each, Troubles()) for each in places)
    async with trio.open_nursery() as nursery:
        for each in (one, other):
            await each.learn(MemoryStore(), kept_in(MemoryStore(), nursery), nursery)
        order = await one.give("west", STAY, "operator", force=False)
        assert await other.order_pending() == order
        await until(lambda: server.watches == 2)
        with structlog.testing.capture_logs() as log:
            server.delete(NAME)
            await until(lambda: NAME in server.maps and "orders" in server.maps[NAME]["data"])
            await until(lambda: not [*one.warnings(), *other.warnings()])
        assert kept(server) == order
        reasons = {line["reason"] for line in log if line["event"] == "orders cannot be read"}
        assert reasons == {"ConfigMap kproxy-orders was deleted; it is created again"}
        server.put(NAME, {})
        await until(lambda: "orders" in server.maps[NAME]["data"])
        assert kept(server) == order
        nursery.cancel_scope.cancel()


async def test_nobody_answers(server: FakeApiServer) -> None:
    """An order is refused with the address, and a replica is not ready, with the reason."""
    server.port = 1
    agreement = Agreement("orders", {"config_map": place(server)}, Troubles())
    async with trio.open_nursery() as nursery:
        assert await agreement.learn(MemoryStore(), kept_in(MemoryStore(), nursery), nursery) is None
        (problem,) = agreement.problems()
        assert "config_map: https://127.0.0.1:1/api/v1/namespaces/messaging/configmaps/kproxy-orders: cannot" in problem
        nursery.cancel_scope.cancel()
