"""kproxy cannot authenticate again on a relayed connection: what was asked is answered, and the client comes again."""

from __future__ import annotations

import pytest
import trio

from kproxy.errors import IdentityError, UpstreamError
from kproxy.observe.reasons import Reason
from kproxy.protocol.context import OUTDATED
from kproxy.relay import pump as pump_module
from kproxy.upstream.authentication import Asked
from kproxy.wire.primitives import frame
from tests.unit.relay.renewing import AUTHENTICATE, HANDSHAKE, accepted, asked, begin, let_in, offered, refused
from tests.unit.relay.sockets import KIB, MIB, Relayed, eventually, noise, request, response, stage, stays
from tests.unit.relay.test_renewal import outcomes, silent


@pytest.fixture(autouse=True)
def _quick_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions that end are looked for twenty times as often."""
    monkeypatch.setattr(pump_module, "_SWEEP_SECONDS", 0.05)


def begin_with(relayed: Relayed, error: Exception | None) -> None:
    """Begin a login that raises this, or returns at once, before it has asked the broker."""

    async def identify(broker: Asked, where: str) -> float:
        del broker, where
        if error is not None:
            raise error
        return float("inf")

    begin(relayed)
    relayed.backend.identify = identify  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("error", "reason", "outcome"),
    [
        (IdentityError("no token"), Reason.UPSTREAM_AUTHENTICATION_FAILED, "refused"),
        (UpstreamError("gone"), Reason.UPSTREAM_SESSION_EXPIRED, "failed"),
        (None, Reason.UPSTREAM_SESSION_EXPIRED, "failed"),
    ],
)
async def test_before_the_broker_is_asked(
    error: Exception | None, reason: Reason, outcome: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The session still counts: all that the client has sent is answered, a request in part as well."""
    async with stage() as running:
        relayed = running.relay()
        second = request(2, b"in two parts")
        await relayed.client.send(request(1), second[:20])
        await relayed.broker.receive(len(request(1)) + 20)
        begin_with(relayed, error)
        await eventually(lambda: outcomes(relayed) == {outcome: 1}, "the failure")
        await relayed.client.send(second[20:])
        assert await relayed.broker.receive(len(second) - 20) == second[20:]
        await stays(lambda: not relayed.connection.closed, "the connection waits for the answers", 0.2)
        await relayed.broker.send(response(1), response(2))
        assert await relayed.client.receive_all() == response(1) + response(2)
        await relayed.ended(reason)
    assert (str(error) if error else "no `identity` any more") in capsys.readouterr().out


async def test_an_idle_client() -> None:
    """It waits for nothing, and is closed."""
    async with stage() as running:
        relayed = running.relay()
        begin_with(relayed, UpstreamError("gone"))
        assert await relayed.client.receive_all() == b""
        await relayed.ended(Reason.UPSTREAM_SESSION_EXPIRED)


@pytest.mark.parametrize("closes", [False, True])
async def test_the_broker_refuses(closes: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """The client has what was asked before; what it sent meanwhile is for no broker. Kafka closes behind a refusal."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        begin(relayed)
        shake = await asked(relayed.broker, HANDSHAKE)
        await relayed.client.send(request(2))
        await relayed.broker.send(response(1), offered(shake))
        await relayed.broker.send(refused(await asked(relayed.broker, AUTHENTICATE)))
        if closes:
            relayed.broker.half_close()
        assert await relayed.client.receive_all() == response(1)
        assert await relayed.broker.receive_all() == b""
        await relayed.ended(Reason.UPSTREAM_AUTHENTICATION_FAILED)
        assert outcomes(relayed) == {"refused": 1}
    assert "broker:9092: the broker refuses it" in capsys.readouterr().out


async def test_a_refusal_behind_what_the_client_does_not_read() -> None:
    """It gets all of it first."""
    async with stage() as running:
        relayed = running.relay(buffer=64 * KIB)
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        begin(relayed)
        shake = await asked(relayed.broker, HANDSHAKE)
        large = response(1, noise(4 * MIB))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(relayed.broker.send, large, offered(shake))
            nursery.start_soon(_refuse, relayed)
            assert await relayed.client.receive_all() == large
        await relayed.ended(Reason.UPSTREAM_AUTHENTICATION_FAILED)


async def _refuse(relayed: Relayed) -> None:
    await relayed.broker.send(refused(await asked(relayed.broker, AUTHENTICATE)))


@pytest.mark.parametrize("after", [HANDSHAKE, AUTHENTICATE])
async def test_the_broker_closes(after: int) -> None:
    """It does so instead of an answer."""
    async with stage() as running:
        relayed = running.relay()
        begin(relayed)
        shake = await asked(relayed.broker, HANDSHAKE)
        if after == AUTHENTICATE:
            await relayed.broker.send(offered(shake))
            await asked(relayed.broker, AUTHENTICATE)
        relayed.broker.half_close()
        assert await relayed.client.receive_all() == b""
        await relayed.ended(Reason.UPSTREAM_SESSION_EXPIRED)
        assert outcomes(relayed) == {"failed": 1}


async def test_the_broker_closes_between_two_questions() -> None:
    """The next is not asked."""
    async with stage() as running:
        relayed = running.relay()
        begin(relayed)
        await relayed.broker.send(offered(await asked(relayed.broker, HANDSHAKE)))
        relayed.broker.half_close()
        await relayed.ended(Reason.UPSTREAM_SESSION_EXPIRED, Reason.BROKER_RESET)


async def test_the_broker_closes_behind_its_last_answer() -> None:
    """kproxy was let in, and then the connection ends as any other."""
    async with stage() as running:
        relayed = running.relay()
        begin(relayed)
        await let_in(relayed.broker)
        relayed.broker.half_close()
        assert await relayed.client.receive_all() == b""
        await relayed.ended(Reason.BROKER_CLOSED)
        assert outcomes(relayed) == {"accepted": 1}


async def test_the_broker_closes_before_it_has_answered_the_client() -> None:
    """That has nothing to do with kproxy's login."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        begin(relayed)
        await asked(relayed.broker, HANDSHAKE)
        relayed.broker.half_close()
        await relayed.ended(Reason.BROKER_CLOSED)
        assert outcomes(relayed) == {}


async def test_the_broker_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time for an answer begins when it is next."""
    monkeypatch.setattr("kproxy.relay.renewal.PATIENCE", 0.3)
    async with stage() as running:
        relayed = running.relay()
        await relayed.client.send(request(1))
        await relayed.broker.receive(len(request(1)))
        begin(relayed, limit=0.1)
        await asked(relayed.broker, HANDSHAKE)
        await stays(lambda: not relayed.connection.closed, "the client's request is next", 1)
        await relayed.broker.send(response(1))
        assert await relayed.client.receive_all() == response(1)
        await relayed.ended(Reason.UPSTREAM_SESSION_EXPIRED)
        assert outcomes(relayed) == {"failed": 1}


async def test_an_answer_that_is_none() -> None:
    """What cannot be read is no refusal."""
    async with stage() as running:
        relayed = running.relay()
        begin(relayed)
        shake = await asked(relayed.broker, HANDSHAKE)
        await relayed.broker.send(frame(shake.correlation_id.to_bytes(4, "big"), b"\0"))
        await relayed.ended(Reason.UPSTREAM_SESSION_EXPIRED)


async def test_an_answer_to_something_else() -> None:
    """It is the broker's fault, as always."""
    async with stage() as running:
        relayed = running.relay()
        begin(relayed)
        await asked(relayed.broker, HANDSHAKE)
        await relayed.broker.send(response(77))
        await relayed.ended(Reason.CORRELATION_MISMATCH)
        assert outcomes(relayed) == {}


@pytest.mark.parametrize("moment", ["before", "waiting", "asked"])
async def test_the_client_goes_meanwhile(moment: str) -> None:
    """Nothing is left, whether a token is fetched, kproxy waits for its turn, or for an answer."""
    async with stage() as running:
        relayed, fetched = running.relay(), trio.Event()
        large = request(1, noise(MIB))
        begin(relayed)
        if moment == "before":
            identify = relayed.backend.identify

            async def late(broker: Asked, where: str) -> float:
                await fetched.wait()
                return await identify(broker, where)

            relayed.backend.identify = late  # type: ignore[method-assign]
        elif moment == "waiting":
            await relayed.client.send(large[:KIB])
            await relayed.broker.receive(KIB)
            await eventually(lambda: relayed.connection.requests.suspended, "kproxy waits for its turn")
        else:
            shake = await asked(relayed.broker, HANDSHAKE)
        relayed.reset_client()
        if moment == "asked":  # what the client has sent meanwhile is still to go to the broker
            await eventually(lambda: bool(relayed.connection.client.gone), "the reset")
            assert not relayed.connection.closed
            await relayed.broker.send(offered(shake))
            await relayed.broker.send(accepted(await asked(relayed.broker, AUTHENTICATE)))
        await relayed.ended(Reason.CLIENT_RESET, Reason.TRUNCATED_REQUEST)
        fetched.set()
        await eventually(lambda: relayed.connection.renewal is None, "the end of the login")
        assert outcomes(relayed) == ({"accepted": 1} if moment == "asked" else {})


async def test_a_fault_in_kproxy() -> None:
    """It ends this connection alone."""
    async with stage() as running:
        relayed, other = running.relay(), running.relay()
        begin_with(relayed, ZeroDivisionError("a bug"))
        await relayed.ended(Reason.INTERNAL_ERROR)
        await other.exchange(1)


async def test_a_connection_of_an_earlier_topology() -> None:
    """The identity is the present one's: the broker is not asked."""
    async with stage() as running:
        relayed = running.relay()
        relayed.connection.context.epoch = OUTDATED
        begin(relayed)
        assert await relayed.broker.receive_all() == b""
        await relayed.ended(Reason.UPSTREAM_SESSION_EXPIRED)


async def test_a_drain_meanwhile() -> None:
    """What is held is a request that was received: it is sent when kproxy is let in, and answered."""
    async with stage() as running:
        relayed = running.relay()
        await relayed.client.send(request(1)[:9])
        await eventually(lambda: relayed.connection.requests.held_bytes == 9, "a part of a request")
        begin(relayed)
        shake = await asked(relayed.broker, HANDSHAKE)
        await relayed.client.send(request(1)[9:])
        await silent(relayed.broker)
        relayed.connection.drain(Reason.DRAINED)
        await relayed.broker.send(offered(shake))
        await relayed.broker.send(accepted(await asked(relayed.broker, AUTHENTICATE)))
        assert await relayed.broker.receive(len(request(1))) == request(1)
        await relayed.broker.send(response(1))
        assert await relayed.client.receive_all() == response(1)
        await relayed.ended(Reason.DRAINED)


async def test_a_drain_of_an_idle_client_meanwhile() -> None:
    """It waits for the answer under way at most."""
    async with stage() as running:
        relayed = running.relay()
        begin(relayed)
        shake = await asked(relayed.broker, HANDSHAKE)
        relayed.connection.drain(Reason.DRAINED)
        await relayed.broker.send(offered(shake))
        assert await relayed.client.receive_all() == b""
        await relayed.ended(Reason.DRAINED)
        assert outcomes(relayed) == {}
