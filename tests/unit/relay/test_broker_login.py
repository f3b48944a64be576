"""kproxy's own requests on a client's new connection to a broker: what is sent, what is taken for an answer."""

from __future__ import annotations

import re
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from pathlib import Path

import pytest
import trio

from kproxy.config.tls import ClientTls, UpstreamTls
from kproxy.errors import UpstreamError
from kproxy.relay.broker_login import BrokerLogin
from kproxy.upstream.tls import BrokerContext, ServerContext, shake_hands
from kproxy.wire.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.generated.sasl_handshake_request import SaslHandshakeRequest
from kproxy.wire.generated.sasl_handshake_response import SaslHandshakeResponse
from kproxy.wire.header import RequestHeader, decode_request_header
from kproxy.wire.primitives import frame
from tests.support.authority import Authority
from tests.unit.relay.sockets import KIB, MIB, Peer, pair

WHERE = "broker:9092"
HANDSHAKE = SaslHandshakeRequest("PLAIN")
OFFERED = SaslHandshakeResponse(mechanisms=["PLAIN"])


@asynccontextmanager
async def opened(*, buffer: int | None = None) -> AsyncIterator[tuple[BrokerLogin, Peer]]:
    """A new connection to a broker, and the broker's end of it."""
    far, near = pair(receive=buffer, send=buffer)
    broker = Peer(far)
    with trio.fail_after(30):
        try:
            yield BrokerLogin(near, WHERE), broker
        finally:
            near.close()
            await broker.close()


async def asked(broker: Peer) -> tuple[RequestHeader, bytes]:
    """Return the next request that arrives: its header and its body."""
    size = int.from_bytes(await broker.receive(4), "big")
    request = await broker.receive(size)
    header, body = decode_request_header(request, 0, size)
    return header, request[body:]


def answered(correlation_id: int, body: bytes) -> bytes:
    return frame(struct.pack(">i", correlation_id), body)


async def test_requests_and_their_answers() -> None:
    """Each is of version 1 and has its own correlation id, and kproxy's name; answers are taken in any pieces."""
    async with opened() as (login, broker), trio.open_nursery() as nursery:

        async def answer() -> None:
            header, body = await asked(broker)
            assert header == RequestHeader(17, 1, 1, "kproxy")
            assert SaslHandshakeRequest.decode(body, 1) == HANDSHAKE
            for byte in answered(1, OFFERED.encode(1)):
                await broker.send(bytes([byte]))
            header, body = await asked(broker)
            assert header == RequestHeader(36, 1, 2, "kproxy")
            assert SaslAuthenticateRequest.decode(body, 1).auth_bytes == b"\0bob\0secret"
            await broker.send(answered(2, SaslAuthenticateResponse(session_lifetime_ms=7000).encode(1)))

        nursery.start_soon(answer)
        assert await login.request(HANDSHAKE, SaslHandshakeResponse, 10) == OFFERED
        said = await login.request(SaslAuthenticateRequest(b"\0bob\0secret"), SaslAuthenticateResponse, 10)
        assert (said.error_code, said.session_lifetime_ms) == (0, 7000)


async def test_a_message_and_an_answer_larger_than_the_sockets_buffers() -> None:
    """A token may be: both wait until the other side has read."""
    token = b"t" * 500 * KIB
    async with opened(buffer=16 * KIB) as (login, broker), trio.open_nursery() as nursery:

        async def answer() -> None:
            _, body = await asked(broker)
            assert SaslAuthenticateRequest.decode(body, 1).auth_bytes == token
            await broker.send(answered(1, SaslAuthenticateResponse(auth_bytes=token).encode(1)))

        nursery.start_soon(answer)
        said = await login.request(SaslAuthenticateRequest(token), SaslAuthenticateResponse, 10)
        assert said.auth_bytes == token


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (answered(2, OFFERED.encode(1)), "the broker answers what it was not asked"),
        (b"\0\0\0\0", "the broker answers with a frame of 0 bytes"),
        (b"\xff\xff\xff\xff", "the broker answers with a frame of -1 bytes"),
        (struct.pack(">i", MIB + 1), "the broker answers with a frame of 1048577 bytes"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "the broker answers with a frame of 1213486160 bytes"),
        (frame(b"\0\0"), "response header: "),
        (answered(1, b"\0"), "SaslHandshakeResponse"),
        (answered(1, OFFERED.encode(1)[:-1]), "SaslHandshakeResponse"),
    ],
)
async def test_what_is_no_answer(sent: bytes, says: str) -> None:
    """The error names the broker; a size alone is enough to refuse a frame."""
    async with opened() as (login, broker):
        await broker.send(sent)
        with pytest.raises(UpstreamError, match=f"^{WHERE}: .*{re.escape(says)}"):
            await login.request(HANDSHAKE, SaslHandshakeResponse, 10)


@pytest.mark.parametrize("sent", [b"", answered(1, OFFERED.encode(1))[:-1]])
async def test_a_broker_that_closes(sent: bytes) -> None:
    """Also in the middle of its answer."""
    async with opened() as (login, broker):
        await broker.send(sent)
        await broker.close()
        with pytest.raises(UpstreamError, match=f"^{WHERE}: the broker closed the connection while kproxy auth"):
            await login.request(HANDSHAKE, SaslHandshakeResponse, 10)
        assert login.turned_away


async def test_a_broker_that_resets() -> None:
    """The error has the kernel's words."""
    async with opened() as (login, broker):
        await broker.reset()
        with pytest.raises(UpstreamError, match=f"^{WHERE}: Connection reset by peer$"):
            await login.request(HANDSHAKE, SaslHandshakeResponse, 10)
        assert login.turned_away


async def test_a_broker_that_is_silent() -> None:
    """It has so many seconds for each answer; half an answer is none."""
    async with opened() as (login, broker):
        await broker.send(answered(1, OFFERED.encode(1))[:-1])
        begun = trio.current_time()
        with pytest.raises(UpstreamError, match=rf"^{WHERE}: no answer within 0\.2 s while kproxy authenticated$"):
            await login.request(HANDSHAKE, SaslHandshakeResponse, 0.2)
        assert not login.turned_away
        assert trio.current_time() - begun >= 0.2


async def test_a_broker_that_reads_nothing() -> None:
    """The deadline counts for sending as well."""
    async with opened(buffer=16 * KIB) as (login, _):
        with pytest.raises(UpstreamError, match=r"no answer within 0\.2 s"):
            await login.request(SaslAuthenticateRequest(b"t" * 8 * MIB), SaslAuthenticateResponse, 0.2)


@asynccontextmanager
async def secured(directory: Path, **settings: str) -> AsyncIterator[tuple[BrokerLogin, ssl.SSLSocket]]:
    """As `opened`, with TLS; the settings are the broker's."""
    kafka = authority(directory).signed("kafka")
    shown = ClientTls.model_validate({"certificate": str(kafka.chain), "key": str(kafka.key), **settings})
    trusted = BrokerContext(UpstreamTls(ca=str(authority(directory).file)), "upstream_tls")
    far, near = pair()
    broker, kproxys = ServerContext(shown, "tls").wrap(far), trusted.wrap(near, "localhost")
    with trio.fail_after(30):
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(shake_hands, kproxys, partial(trio.lowlevel.wait_readable, kproxys))
                with suppress(ssl.SSLError):
                    await shake_hands(broker, partial(trio.lowlevel.wait_readable, broker))
            yield BrokerLogin(kproxys, WHERE), broker
        finally:
            kproxys.close()
            broker.close()


@cache
def authority(directory: Path) -> Authority:
    return Authority(directory)


async def test_over_tls(tmp_path: Path) -> None:
    """An answer may come in several records; an end without close_notify is an end."""
    async with secured(tmp_path) as (login, broker):
        answer = answered(1, OFFERED.encode(1))
        for part in (answer[:2], answer[2:6], answer[6:]):
            assert broker.send(part) == len(part)
        assert await login.request(HANDSHAKE, SaslHandshakeResponse, 10) == OFFERED
        assert decode_request_header(broker.recv(KIB), 4, KIB)[0] == RequestHeader(17, 1, 1, "kproxy")
        broker.close()
        with pytest.raises(UpstreamError, match=f"^{WHERE}: the broker closed the connection while kproxy auth"):
            await login.request(HANDSHAKE, SaslHandshakeResponse, 10)
        assert not login.turned_away  # it has answered before


async def test_a_broker_that_wants_a_certificate(tmp_path: Path) -> None:
    """In TLS 1.3 it says so behind kproxy's handshake: the error says what to do."""
    ca = str(authority(tmp_path).file)
    async with secured(tmp_path, client_ca=ca) as (login, _):
        with pytest.raises(UpstreamError, match=f"^{WHERE}: .*it asks for a certificate; give kproxy one"):
            await login.request(HANDSHAKE, SaslHandshakeResponse, 10)
