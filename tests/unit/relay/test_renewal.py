"""kproxy authenticates again on relayed connections, between the client's requests: none is lost or mixed up."""

from __future__ import annotations

import struct
import time

import pytest
import trio

from kproxy.relay import pump as pump_module
from kproxy.wire.header import decode_request_header
from tests.support.bounds import Bounds
from tests.unit.relay import frames
from tests.unit.relay.own import (
    asked_broker,
    dialogue,
    park,
    parked_response,
    step_request,
    step_response,
    talking,
    work,
)
from tests.unit.relay.renewing import (
    AUTHENTICATE,
    HANDSHAKE,
    SESSION,
    accepted,
    asked,
    begin,
    let_in,
    offered,
)
from tests.unit.relay.sockets import (
    API_VERSIONS,
    FETCH,
    KIB,
    MIB,
    Peer,
    Relayed,
    eventually,
    noise,
    request,
    response,
    stage,
    stays,
)

SOON = 0.2


@pytest.fixture(autouse=True)
def _quick_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions that end are looked for twenty times as often."""
    monkeypatch.setattr(pump_module, "_SWEEP_SECONDS", 0.05)


async def silent(broker: Peer, seconds: float = SOON) -> None:
    """Assert that the broker gets nothing for a while."""
    with trio.move_on_after(seconds):
        found = await broker.stream.receive_some()
        raise AssertionError(f"the broker got {found[:100]!r}")


def outcomes(relayed: Relayed) -> dict[str, int]:
    """kproxy's logins, by how they ended."""
    return {key: count for key, count in relayed.backend.counters.reauthentications.items() if count}


async def renewed(relayed: Relayed, times: int = 1) -> None:
    """Wait until the broker has let kproxy in so often."""
    await eventually(lambda: outcomes(relayed) == {"accepted": times}, "the login")
    assert (relayed.connection.renewal, relayed.connection.requests.suspended) == (None, False)


async def let_in_after(relayed: Relayed, before: bytes, times: int = 1) -> None:
    """Let kproxy in once the broker has sent this to the client."""
    shake = await asked(relayed.broker, HANDSHAKE)
    await relayed.broker.send(before, offered(shake))
    await relayed.broker.send(accepted(await asked(relayed.broker, AUTHENTICATE)))
    assert await relayed.client.receive(len(before)) == before
    await renewed(relayed, times)


async def test_again_and_again() -> None:
    """The connection stays, and is steady afterwards; kproxy's requests are nobody's, and count as nobody's."""
    async with stage() as running:
        relayed = running.relay()
        for times in range(1, 4):
            begin(relayed)
            await let_in(relayed.broker)
            await renewed(relayed, times)
            assert relayed.connection.context.renew_at == pytest.approx(time.monotonic() + SESSION, abs=5)
            await relayed.exchange(times)
            assert relayed.connection._steady
        info = relayed.connection.info
        assert (info.requests, info.responses, info.in_flight) == (3, 3, 0)
        assert {key for key, _ in relayed.backend.counters.apis} == {1}


async def test_not_before_its_time(bounds: Bounds) -> None:
    """A sweep that finds it earlier waits."""
    async with stage() as running:
        relayed = running.relay()
        begun = time.monotonic()
        begin(relayed, after=0.5)
        await asked(relayed.broker, HANDSHAKE)
        took = time.monotonic() - begun
        assert took >= 0.5
        bounds.below(took, 5, "seconds until the renewal")


async def test_what_was_asked_is_answered_and_what_comes_behind_waits() -> None:
    """Responses go to the client as they come; its next requests are sent when kproxy is let in, in their order."""
    async with stage() as running:
        relayed = running.relay()
        before, behind = [request(number, noise(KIB)) for number in (1, 2)], [request(number) for number in (3, 4)]
        await relayed.client.send(*before)
        assert await relayed.broker.receive(2 * len(before[0])) == b"".join(before)
        begin(relayed)
        shake = await asked(relayed.broker, HANDSHAKE)
        assert shake.correlation_id == 1  # as one of the client's: the broker answers in order
        await relayed.client.send(*behind)
        for number in (1, 2):
            await relayed.broker.send(response(number, b"x"))
            assert await relayed.client.receive(len(response(number, b"x"))) == response(number, b"x")
        await silent(relayed.broker)
        await relayed.broker.send(offered(shake))
        proof = await asked(relayed.broker, AUTHENTICATE)
        await silent(relayed.broker)
        assert relayed.connection.paused == ()
        await relayed.broker.send(accepted(proof))
        assert await relayed.broker.receive(2 * len(behind[0])) == b"".join(behind)
        await relayed.broker.send(response(3) + response(4))
        assert await relayed.client.receive(2 * len(response(3))) == response(3) + response(4)
        assert relayed.connection._steady


async def test_all_in_one_segment() -> None:
    """The last responses and the answer to kproxy come in one read: each goes where it belongs."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.client.send(request(1), request(2))
        await relayed.broker.receive(2 * len(request(1)))
        begin(relayed)
        await let_in_after(relayed, response(1, b"one") + response(2, b"two"))
        await relayed.exchange(3)


@pytest.mark.parametrize("size", [MIB // 64, 3 * MIB])
async def test_a_request_that_is_half_sent(size: int) -> None:
    """It is completed first, whether it is copied or spliced; what the client has sent behind it waits."""
    async with stage() as running:
        relayed = running.relay()
        large, behind = request(1, noise(size)), request(2, b"behind")
        await relayed.client.send(large[: size // 2])
        async with trio.open_nursery() as nursery:
            begin(relayed)
            assert await relayed.broker.receive(size // 2) == large[: size // 2]
            await eventually(lambda: relayed.connection.requests.suspended, "kproxy waits for its turn")
            await silent(relayed.broker)
            nursery.start_soon(relayed.client.send, large[size // 2 :], behind)
            assert await relayed.broker.receive(len(large) - size // 2) == large[size // 2 :]
            shake = await asked(relayed.broker, HANDSHAKE)
        await relayed.broker.send(response(1), offered(shake))
        await relayed.broker.send(accepted(await asked(relayed.broker, AUTHENTICATE)))
        assert await relayed.broker.receive(len(behind)) == behind


@pytest.mark.parametrize("cut", [1, 5, 11, 13])
async def test_the_first_bytes_of_a_request(cut: int) -> None:
    """A head that is not whole, and a request that is held whole, have not begun for the broker."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.exchange(1)
        sent = frames.request(API_VERSIONS, 2, 2)  # it is held whole, and then sent on as it is
        await relayed.client.send(sent[:cut])
        await eventually(lambda: relayed.connection.requests.held_bytes > 0, "its beginning is held")
        begin(relayed)
        shake = await asked(relayed.broker, HANDSHAKE)
        await relayed.client.send(sent[cut:])
        await relayed.broker.send(offered(shake))
        await relayed.broker.send(accepted(await asked(relayed.broker, AUTHENTICATE)))
        assert await relayed.broker.receive(len(sent)) == sent


async def test_a_broker_that_takes_nothing_for_a_while() -> None:
    """What waits for it goes first, though it was spliced into a pipe."""
    async with stage() as running:
        relayed = running.relay(buffer=64 * KIB)
        large = request(1, noise(4 * MIB))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.client.send, large)
            await eventually(lambda: relayed.connection.broker.blocked, "the broker is full")
            begin(relayed)
            await eventually(lambda: relayed.connection.requests.suspended, "kproxy waits for its turn")
            assert await relayed.broker.receive(len(large)) == large
            await let_in_after(relayed, response(1))


async def test_a_client_that_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """kproxy's answer is behind what it does not read: that takes as long as it takes."""
    monkeypatch.setattr("kproxy.relay.renewal.PATIENCE", 0.1)
    async with stage() as running:
        relayed = running.relay(buffer=64 * KIB)
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        large = response(1, noise(4 * MIB))
        begin(relayed)
        shake = await asked(relayed.broker, HANDSHAKE)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.broker.send, large, offered(shake))
            await eventually(lambda: relayed.connection.client.blocked, "the client is full")
            await stays(lambda: not relayed.connection.ending, "kproxy waits", 0.5)
            assert await relayed.client.receive(len(large)) == large
        await relayed.broker.send(accepted(await asked(relayed.broker, AUTHENTICATE)))
        await renewed(relayed)
        await relayed.exchange(2)


async def test_an_idle_client_stays_idle() -> None:
    """kproxy's own bytes do not keep its connection; those of the client do."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.exchange(1)
        before = relayed.connection.progress
        begin(relayed)
        await let_in(relayed.broker)
        await renewed(relayed)
        assert relayed.connection.progress == before
        await relayed.client.send(request(2))
        await relayed.broker.receive(len(request(2)))
        before = relayed.connection.progress
        begin(relayed)
        await let_in_after(relayed, response(2), times=2)
        assert relayed.connection.progress > before


async def test_behind_a_dialogue() -> None:
    """The broker has its further questions first; kproxy's come before the client's next request."""
    async with talking() as (running, _):
        relayed = running.relay()
        await relayed.client.send(dialogue(5, 2), request(6))
        await relayed.broker.receive(len(step_request(5, 0)))
        begin(relayed)
        await eventually(lambda: relayed.connection.requests.suspended, "kproxy waits for its turn")
        await silent(relayed.broker)
        await relayed.broker.send(step_response(5, 0))
        assert await relayed.broker.receive(len(step_request(5, 1))) == step_request(5, 1)
        await silent(relayed.broker)
        await relayed.broker.send(step_response(5, 1))
        assert await relayed.client.receive(len(asked_broker(5, 2))) == asked_broker(5, 2)
        await let_in(relayed.broker)
        assert await relayed.broker.receive(len(request(6))) == request(6)


async def test_behind_an_answer_that_is_to_come() -> None:
    """kproxy's answer waits its turn in the queue, as every response does; requests wait for both."""
    async with talking() as (running, room):
        relayed = running.relay()
        await relayed.client.send(park(1))
        await eventually(lambda: bool(room.parked), "the parked answer")
        begin(relayed)
        await relayed.broker.send(offered(await asked(relayed.broker, HANDSHAKE)))
        await relayed.client.send(request(2))
        await silent(relayed.broker)
        room.parked[1].resolve(parked_response(1))
        assert await relayed.client.receive(len(parked_response(1))) == parked_response(1)
        await relayed.broker.send(accepted(await asked(relayed.broker, AUTHENTICATE)))
        assert await relayed.broker.receive(len(request(2))) == request(2)


async def test_an_answer_in_steps_meanwhile() -> None:
    """It goes to the client, and what came behind it waits for kproxy as well."""
    async with talking() as (running, _):
        relayed = running.relay()
        begin(relayed)
        shake = await asked(relayed.broker, HANDSHAKE)
        await relayed.client.send(work(1, 3), request(2))
        await silent(relayed.broker)
        await relayed.broker.send(offered(shake))
        await relayed.broker.send(accepted(await asked(relayed.broker, AUTHENTICATE)))
        assert await relayed.client.receive(len(parked_response(1))) == parked_response(1)
        assert await relayed.broker.receive(len(request(2))) == request(2)


async def test_a_throttled_client() -> None:
    """kproxy does not wait for it, nor does the end of kproxy's login let it go on."""
    async with stage() as running:
        relayed = running.relay()
        relayed.connection.throttle(60)
        await relayed.client.send(request(1))
        begin(relayed)
        await let_in(relayed.broker)
        await renewed(relayed)
        await silent(relayed.broker)


def answer_to(sent: bytes) -> bytes:
    """Return a broker's response to a client's request, or to kproxy's."""
    (key,) = struct.unpack_from(">h", sent)
    if key == FETCH:
        return response(int.from_bytes(sent[4:8], "big"), b"x")
    header, _ = decode_request_header(sent, 0, len(sent))
    return offered(header) if key == HANDSHAKE else accepted(header)


async def test_many_at_once() -> None:
    """Each connection is let in, and each client has its own responses, with requests under way all the time."""
    async with stage() as running, trio.open_nursery() as nursery:
        many = [running.relay() for _ in range(30)]

        async def client(relayed: Relayed) -> None:
            for number in range(1, 101):
                await relayed.client.send(request(number, noise(number, number)))
                assert await relayed.client.receive(len(response(number, b"x"))) == response(number, b"x")

        async def broker(relayed: Relayed) -> None:
            while True:
                size = int.from_bytes(await relayed.broker.receive(4), "big")
                await relayed.broker.send(answer_to(await relayed.broker.receive(size)))

        for relayed in many:
            nursery.start_soon(broker, relayed)
        async with trio.open_nursery() as clients:
            for relayed in many:
                clients.start_soon(client, relayed)
            for relayed in many:
                begin(relayed)
        await renewed(many[0], 30)
        nursery.cancel_scope.cancel()
