"""kproxy.upstream.authentication and what uses it, against brokers that ask for SASL as scripted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
import trio
import trio.testing

from kproxy.config import Identity
from kproxy.errors import IdentityError, ShortageError, UpstreamError
from kproxy.upstream.authentication import authenticate
from kproxy.upstream.client import UpstreamClient, _nobody
from kproxy.upstream.handshake import HELLO
from kproxy.upstream.tokens import TokenCache
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.metadata_response import MetadataResponse
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.header import RequestHeader
from kproxy.wire.message import WireMessage
from tests.support.authorization_server import CLIENT, CLIENT_SECRET, authorization_server
from tests.unit.upstream.sasl_broker import AUTHENTICATE, HANDSHAKE, SaslBroker
from tests.unit.upstream.scripted_broker import API_VERSIONS, METADATA, ScriptedBroker, bodied, eventually

PLAIN = {"mechanism": "PLAIN", "username": "alice", "password": "hunter2-hunter2"}
MESSAGE = b"\0alice\0hunter2-hunter2"
Answer = TypeVar("Answer", bound=WireMessage)
Start = Callable[..., Awaitable[UpstreamClient]]


def accepts(_message: bytes) -> SaslAuthenticateResponse:
    """Everybody is welcome, for ever."""
    return SaslAuthenticateResponse()


def refuses(message: bytes) -> SaslAuthenticateResponse:
    """The error repeats the secret, and tries to write lines of its own."""
    return SaslAuthenticateResponse(58, f"no such user: {message.decode()}\nsecond line")


@pytest.fixture
def start(nursery: trio.Nursery) -> Start:
    """Start a client of one broker, which it starts too."""

    async def start(broker: ScriptedBroker, identity: dict[str, Any] | None, **settings: Any) -> UpstreamClient:
        await nursery.start(broker.run)
        broker.name_nodes({1: broker.address})
        made = None if identity is None else Identity.model_validate(identity)
        client = UpstreamClient([broker.address], rand=lambda: 0.0, identity=lambda: made, **settings)
        await nursery.start(client.run)
        return client

    return start


async def error_of(client: UpstreamClient) -> UpstreamError:
    """The error of a request."""
    with pytest.raises(UpstreamError) as caught:
        await client.metadata()
    return caught.value


async def test_a_request_after_the_authentication(start: Start) -> None:
    """Handshake in v1, then the messages, in versions that both know; then requests are answered."""
    broker = SaslBroker(accepts)
    client = await start(broker, PLAIN)
    for _ in range(3):
        assert (await client.metadata()).cluster_id == "scripted"
    assert [header[:2] for header in broker.seen] == [(API_VERSIONS, HELLO.max_version), *[(METADATA, 12)] * 3]
    assert (broker.mechanisms, broker.messages, broker.accepted) == (["PLAIN"], [MESSAGE], 1)


async def test_a_fresh_connection_authenticates_as_well(start: Start) -> None:
    """Each poll of the topology is on one."""
    broker = SaslBroker(accepts)
    client = await start(broker, PLAIN)
    for _ in range(3):
        await client.metadata(fresh=True)
    assert broker.messages == [MESSAGE] * 3


async def test_a_refusal(start: Start) -> None:
    """Where, by what, who, and the broker's words on one line, without the secret; the connection is closed."""
    broker = SaslBroker(refuses)
    error = await error_of(await start(broker, PLAIN))
    assert isinstance(error, IdentityError)
    where = f"127.0.0.1:{broker.port}: PLAIN as 'alice'"
    said = "no such user: ?alice?**********?second line"
    assert f"{where}: the broker refuses it, SASL_AUTHENTICATION_FAILED: {said}; check `identity`" in str(error)
    await eventually(lambda: broker.open == 0, "the connection is closed")


async def test_a_refusal_without_a_word(start: Start) -> None:
    """The code is what there is."""
    error = await error_of(await start(SaslBroker(lambda _: SaslAuthenticateResponse(58, None)), PLAIN))
    assert "SASL_AUTHENTICATION_FAILED: it does not say why" in str(error)


@pytest.mark.parametrize(
    ("code", "offered", "why"),
    [
        (33, ("GSSAPI", "SCRAM-SHA-512"), "does not offer this mechanism, it offers GSSAPI, SCRAM-SHA-512;"),
        (33, (), "it offers none;"),
        (33, ("a\nb",), "it offers a?b;"),
        (34, (), "the broker's listener does not ask for SASL, and takes no `identity`"),
        (7, (), "answers SaslHandshake with REQUEST_TIMED_OUT"),
        (999, (), "answers SaslHandshake with 999"),
    ],
)
async def test_a_handshake_that_fails(start: Start, code: int, offered: tuple[str, ...], why: str) -> None:
    """Nothing secret has been sent."""
    broker = SaslBroker(accepts, mechanisms=offered, code=code)
    error = await error_of(await start(broker, PLAIN))
    assert isinstance(error, IdentityError)
    assert why in str(error)
    assert broker.messages == []


@pytest.mark.parametrize("lacking", [{}, {HANDSHAKE: (0, 0), AUTHENTICATE: (0, 2)}])
async def test_a_broker_without_what_it_takes(start: Start, lacking: dict[int, tuple[int, int]]) -> None:
    """What follows SaslHandshake v0 has no frames, so it is not used."""
    broker = SaslBroker(accepts)
    broker.offered = lacking
    assert "SaslHandshake" in str(await error_of(await start(broker, PLAIN)))
    assert broker.messages == []


async def test_scram_with_a_broker_that_does_not_know_it(start: Start) -> None:
    """The exchange's own error is told like the broker's."""
    broker = SaslBroker(lambda _: SaslAuthenticateResponse(auth_bytes=b"what?"))
    error = await error_of(await start(broker, PLAIN | {"mechanism": "SCRAM-SHA-256"}))
    assert "SCRAM-SHA-256 as 'alice': the broker's first message is not SCRAM's; check `identity`" in str(error)


async def test_without_an_identity(start: Start) -> None:
    """The broker closes the connection, and the error says what may be missing; once an answer came, it does not."""
    error = await error_of(await start(SaslBroker(accepts), None))
    assert not isinstance(error, IdentityError)
    assert "with 1 requests unanswered; if its listener asks for SASL, give kproxy an `identity`" in str(error)


async def test_no_hint_once_a_request_was_answered(start: Start) -> None:
    """Then it is not for SASL that the broker closes the connection."""
    broker = ScriptedBroker()
    client = await start(broker, None)
    await client.metadata()
    broker.script[METADATA] = lambda _broker, stream, _header: stream.aclose()
    error = await error_of(client)
    assert "with 1 requests unanswered" in str(error)
    assert "identity" not in str(error)


async def test_a_broker_that_says_it_asks_for_sasl(start: Start) -> None:
    """ILLEGAL_SASL_STATE in ApiVersions leads to the same hint."""
    broker = ScriptedBroker()
    broker.script[API_VERSIONS] = bodied(ApiVersionsResponse(error_code=34).encode(4))
    assert "ILLEGAL_SASL_STATE; give kproxy an `identity`" in str(await error_of(await start(broker, None)))


async def test_a_file_is_read_each_time(start: Start, tmp_path: Path) -> None:
    """A rotated password counts on the next connection; one line end is no part of it."""
    file, broker = tmp_path / "password", SaslBroker(accepts)
    client = await start(broker, {"mechanism": "PLAIN", "username": "a", "password_file": str(file)})
    for text in ("first\n", "second\r\n", "third"):
        file.write_bytes(text.encode())
        await client.metadata(fresh=True)
    assert broker.messages == [b"\0a\0first", b"\0a\0second", b"\0a\0third"]


async def test_a_token_file(start: Start, tmp_path: Path) -> None:
    """The token is all that there is."""
    file, broker = tmp_path / "token", SaslBroker(accepts, mechanisms=("OAUTHBEARER",))
    file.write_text("abc.def\n")
    await (await start(broker, {"mechanism": "OAUTHBEARER", "token_file": str(file)})).metadata()
    assert broker.messages == [b"n,,\x01auth=Bearer abc.def\x01\x01"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be used: no such file or directory"),
        (b"\xffsecret", "cannot be used: it is not utf-8 text"),
        (b"secret" * 20_000, "cannot be used: it has more than 65536 bytes"),
        (b"", "the password is empty or has a control character"),
        (b"secret\nsecret\n", "the password is empty or has a control character"),
    ],
)
async def test_a_file_that_cannot_be_used(start: Start, tmp_path: Path, content: bytes | None, why: str) -> None:
    """The error has its name and the reason, and nothing of what is in it."""
    file, broker = tmp_path / "password", SaslBroker(accepts)
    if content is not None:
        file.write_bytes(content)
    error = await error_of(await start(broker, {"mechanism": "PLAIN", "username": "a", "password_file": str(file)}))
    assert isinstance(error, IdentityError)
    assert why in str(error)
    assert "secret" not in str(error).replace(str(file), "")
    assert broker.messages == []


async def test_a_session_is_renewed_in_time(start: Start, mock_clock: trio.testing.MockClock) -> None:
    """Over ten lifetimes no request fails, and one connection follows the other (KIP-368)."""
    broker = SaslBroker(lambda _: SaslAuthenticateResponse(session_lifetime_ms=60_000))
    client = await start(broker, PLAIN)
    for _ in range(600):
        assert (await client.request(MetadataRequest(topics=[]), MetadataResponse)).cluster_id == "scripted"
        mock_clock.jump(1)
    assert broker.refused == 0
    assert broker.accepted in (12, 13)  # a new one after 48 to 54 s, at the next request
    await _true(lambda: broker.open == 1)


async def test_what_begins_together_is_not_renewed_together() -> None:
    """Each session is renewed after 80 to 90 % of its lifetime, anywhere between."""

    class Broker:
        async def request(self, message: object, answer: type[Answer], limit: float) -> Answer:
            del message, limit
            made = answer()
            if isinstance(made, SaslAuthenticateResponse):
                made.session_lifetime_ms = 1_000_000
            return made

    identity, begun = Identity.model_validate(PLAIN), trio.current_time()
    async with trio.open_nursery() as nursery:
        ends = [await authenticate(Broker(), identity, "broker:1", 1, TokenCache(), nursery) for _ in range(200)]
    after = [end - begun for end in ends]
    assert min(after) >= 800
    assert max(after) <= 900 + trio.current_time() - begun
    assert max(after) - min(after) > 50


async def test_requests_under_way_survive_the_renewal(start: Start, mock_clock: trio.testing.MockClock) -> None:
    """The old connection ends when they are answered."""
    broker = SaslBroker(lambda _: SaslAuthenticateResponse(session_lifetime_ms=10_000))
    client = await start(broker, PLAIN)
    gate, answers = trio.Event(), []

    async def late(broker: ScriptedBroker, stream: trio.SocketStream, header: RequestHeader) -> None:
        del broker.script[METADATA]
        await gate.wait()
        await broker.good(stream, header)

    async def ask() -> None:
        answers.append((await client.metadata()).cluster_id)

    broker.script[METADATA] = late
    async with trio.open_nursery() as asking:
        asking.start_soon(ask)
        await _true(lambda: METADATA not in broker.script)
        mock_clock.jump(9)
        await client.metadata()
        assert (broker.accepted, broker.open, answers) == (2, 2, [])
        gate.set()
    assert answers == ["scripted"]
    await _true(lambda: broker.open == 1)
    assert broker.refused == 0


async def _true(true: Callable[[], bool]) -> None:
    """Wait for it while the clock stands still; pytest's timeout ends it otherwise."""
    while not true():
        await trio.lowlevel.checkpoint()


def test_all_errors_together() -> None:
    """A shortage comes first, then a refusal: neither says that no broker could answer."""
    plain, refused, short = UpstreamError("a"), IdentityError("b"), ShortageError("c")
    assert type(_nobody([plain, refused, short])) is ShortageError
    assert type(_nobody([plain, refused])) is IdentityError
    assert type(_nobody([plain])) is UpstreamError


async def test_a_token_of_client_credentials(start: Start) -> None:
    """One token for all connections; the broker that refuses it is named, and so is an endpoint that issues none."""
    with authorization_server() as server:
        grant = {"token_endpoint": server.issuer, "client_id": CLIENT, "client_secret": CLIENT_SECRET}
        bearer = {"mechanism": "OAUTHBEARER", "client_credentials": grant}
        broker = SaslBroker(accepts)
        client = await start(broker, bearer)
        for _ in range(3):
            await client.metadata(fresh=True)
        assert len(server.asked) == 1
        assert {message[:19] for message in broker.messages} == {b"n,,\x01auth=Bearer eyJ"}
        error = await error_of(await start(SaslBroker(lambda _: SaslAuthenticateResponse(58, "no")), bearer))
        assert "OAUTHBEARER: the broker refuses it, SASL_AUTHENTICATION_FAILED: no; check `identity`" in str(error)
        server.refuses = 503, {}
        error = await error_of(await start(SaslBroker(accepts), bearer))
        assert isinstance(error, IdentityError)
        assert f"OAUTHBEARER: {server.issuer}/: it answers 503; check the URL and its log" in str(error)


async def test_a_token_that_takes_too_long(start: Start) -> None:
    """The error names the endpoint, not the broker's address and firewalls."""
    with authorization_server() as server:
        server.delay = 0.5
        grant = {"token_endpoint": server.issuer, "client_id": CLIENT, "client_secret": CLIENT_SECRET}
        bearer = {"mechanism": "OAUTHBEARER", "client_credentials": grant}
        client = await start(SaslBroker(accepts), bearer, connect_timeout=0.2)
        error = await error_of(client)
        assert isinstance(error, IdentityError)
        assert f"{server.issuer}/: no token within 0.2 s; check its load and the network" in str(error)
        await trio.sleep(0.5)  # the fetch goes on, and its token is there for the next attempt
        assert (await client.metadata()).cluster_id == "scripted"
        assert len(server.asked) == 1
