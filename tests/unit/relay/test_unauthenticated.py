"""A client before it is authenticated: what it is answered, what ends it and why, and what is left for the pump."""

from __future__ import annotations

import math
import socket
import ssl
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

import pytest
import trio

from kproxy.authentication.authenticator import REFUSAL_DELAY, Authenticator
from kproxy.authentication.users import Users, credential
from kproxy.cluster.policies import composed
from kproxy.config.tls import ClientTls, UpstreamTls
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiTable
from kproxy.protocol.context import MAX_NAME, Context
from kproxy.protocol.fault import Fault
from kproxy.rebootstrap.actions import Action
from kproxy.relay.apis.reauthentication import policies
from kproxy.relay.unauthenticated import Unauthenticated
from kproxy.upstream.sasl import Credentials, exchange
from kproxy.upstream.tls import BrokerContext, ServerContext, shake_hands
from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse, SupportedFeatureKey
from kproxy.wire.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.generated.sasl_handshake_request import SaslHandshakeRequest
from kproxy.wire.generated.sasl_handshake_response import SaslHandshakeResponse
from kproxy.wire.header import RequestHeader, decode_response_header, encode_request_header
from kproxy.wire.primitives import frame
from tests.support.authority import Authority
from tests.support.bounds import Bounds
from tests.unit.relay.sockets import HOST, KIB, RESET, Backend, Peer, pair

MOST = Authenticator((), Users({}, b""), None).most_bytes
PLAIN, SHA_256 = "PLAIN", "SCRAM-SHA-256"
USERS = Users({(SHA_256, "carol"): credential(SHA_256, "pencil", b"salt", 4096)}, b"secret")
RIGHT, WRONG = b"\0carol\0pencil", b"\0carol\0hunter2"
METADATA, HANDSHAKE, API_VERSIONS, AUTHENTICATE = 3, 17, 18, 36
NEXT = b"\0\0\0\x05the pump's"
HELLO = ApiVersionsResponse(
    api_keys=[ApiVersion(METADATA, 0, 13), ApiVersion(HANDSHAKE, 0, 1), ApiVersion(API_VERSIONS, 0, 4)],
    supported_features=[SupportedFeatureKey("from-zero", 0, 1), SupportedFeatureKey("from-one", 1, 3)],
    finalized_features_epoch=7,
)
"""A broker's answer; AUTHENTICATE is missing in it."""
LONG_HELLO = ApiVersionsResponse(
    api_keys=HELLO.api_keys, supported_features=[SupportedFeatureKey(f"feature-{n}", 1, 2) for n in range(8000)]
)
"""Some 200 KB."""
_HEAD = struct.Struct(">hhih")


def request(
    message: SaslHandshakeRequest | SaslAuthenticateRequest | ApiVersionsRequest, version: int, name: str | None = "app"
) -> bytes:
    """Return a request's frame, of correlation id 9 and this client id."""
    header = RequestHeader(message.api_key, version, 9, name)
    return frame(encode_request_header(header), message.encode(version))


def raw_request(key: int, version: int, rest: bytes = b"") -> bytes:
    """Return a frame with a proper header without a client id, and anything behind it."""
    return frame(_HEAD.pack(key, version, 9, -1), rest)


def shake(mechanism: str = PLAIN, version: int = 1) -> bytes:
    """Return a SaslHandshake request."""
    return request(SaslHandshakeRequest(mechanism), version)


def say(message: bytes, version: int = 2) -> bytes:
    """Return a SaslAuthenticate request."""
    return request(SaslAuthenticateRequest(message), version)


def hello(version: int) -> bytes:
    """Return an ApiVersions request."""
    return request(ApiVersionsRequest(client_software_name="lib", client_software_version="1.2"), version)


class TlsPeer:
    """As `Peer`, a client that speaks TLS: each call of `send` is one record, at most."""

    def __init__(self, sock: ssl.SSLSocket) -> None:
        self.sock = sock

    async def send(self, *chunks: bytes) -> None:
        assert self.sock.send(b"".join(chunks)) == sum(map(len, chunks))

    async def receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            try:
                data += self.sock.recv(size - len(data))
            except ssl.SSLWantReadError:
                await trio.lowlevel.wait_readable(self.sock)
        return bytes(data)

    async def close(self) -> None:
        """FIN, without close_notify."""
        self.sock.close()


@dataclass
class Stranger:
    """A client's end, and what waits at kproxy's end of it for the authentication."""

    peer: Peer | TlsPeer
    near: socket.socket
    context: Context
    unauthenticated: Unauthenticated

    @property
    def plain(self) -> Peer:
        """The client, which speaks plaintext."""
        assert isinstance(self.peer, Peer)
        return self.peer

    async def fault(self, says: Callable[[], Awaitable[None]] | None = None, *, seconds: float = 10) -> Fault:
        """Return why kproxy ends it; the client `says` this meanwhile."""
        async with trio.open_nursery() as nursery:
            if says is not None:
                nursery.start_soon(says)
            with pytest.raises(Fault) as caught:
                await self.unauthenticated.authenticate(seconds)
        assert self.context.principal is None
        return caught.value

    async def authenticate(self, says: Callable[[], Awaitable[None]]) -> None:
        """Authenticate the client, which `says` this meanwhile."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(says)
            await self.unauthenticated.authenticate(10)

    async def heard(self) -> bytes:
        """Return the next response without its size."""
        return await self.peer.receive(int.from_bytes(await self.peer.receive(4), "big"))

    async def shaken(self, version: int = 1) -> SaslHandshakeResponse:
        """Return the answer to SaslHandshake."""
        return SaslHandshakeResponse.decode((await self.heard())[4:], version)

    async def said(self, version: int = 2) -> SaslAuthenticateResponse:
        """Return the answer to SaslAuthenticate."""
        answer = await self.heard()
        correlation_id, body = decode_response_header(answer, 0, len(answer), AUTHENTICATE, version)
        assert correlation_id == 9
        return SaslAuthenticateResponse.decode(answer[body:], version)

    async def versions(self, version: int) -> ApiVersionsResponse:
        """Return the answer to ApiVersions, which has this version's form."""
        answer = await self.heard()
        assert answer[:4] == b"\0\0\0\x09"
        return ApiVersionsResponse.decode(answer[4:], version)


@asynccontextmanager
async def stranger(
    *,
    lifetime: float | None = None,
    answer: ApiVersionsResponse | None = HELLO,
    buffer: int | None = None,
    tls: tuple[ServerContext, BrokerContext] | None = None,
    node_id: int | None = None,
) -> AsyncIterator[Stranger]:
    """A client that has connected, and has said nothing yet. `answer` is the broker's to ApiVersions."""
    by = Authenticator((PLAIN, SHA_256), USERS, lifetime)
    backend = Backend()
    backend.authenticator = by
    backend.table = ApiTable(backend.counters, composed(backend, {}, None, sasl=policies(backend)))
    backend.served, backend.own = backend.table.served(), backend.table.own()
    context = Context(backend, node_id, "client:1", HOST)
    far, near = pair(receive=buffer, send=buffer)
    peer: Peer | TlsPeer = Peer(far)
    with trio.fail_after(30):
        if tls is not None:
            near, secured = tls[0].wrap(near), tls[1].wrap(far, "localhost")
            peer = TlsPeer(secured)
            async with trio.open_nursery() as nursery:
                for end in (near, secured):
                    nursery.start_soon(shake_hands, end, partial(trio.lowlevel.wait_readable, end))
        try:
            yield Stranger(peer, near, context, Unauthenticated(near, context, backend.table, by, answer))
        finally:
            near.close()
            await peer.close()


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ServerContext, BrokerContext]:
    """What kproxy shows, and what a client trusts."""
    authority = Authority(tmp_path_factory.mktemp("tls"))
    shown = authority.signed("kproxy")
    settings = ClientTls(certificate=str(shown.chain), key=str(shown.key))
    return ServerContext(settings, "tls"), BrokerContext(UpstreamTls(ca=str(authority.file)), "upstream_tls")


@pytest.mark.parametrize(("lifetime", "told"), [(None, 0), (90.0, 90_000)])
async def test_a_user_is_let_in(lifetime: float | None, told: int) -> None:
    """The connection has its principal, its client id and software, and the session's end that the client is told."""
    async with stranger(lifetime=lifetime) as client:

        async def says() -> None:
            await client.peer.send(hello(3))
            await client.versions(3)
            await client.peer.send(shake())
            assert await client.shaken() == SaslHandshakeResponse(mechanisms=[PLAIN, SHA_256])
            await client.peer.send(say(RIGHT))
            answer = await client.said()
            assert (answer.error_code, answer.session_lifetime_ms) == (0, told)

        begun = time.monotonic()
        await client.authenticate(says)
        context = client.context
        assert (context.principal, context.client_id, context.software) == ("User:carol", "app", ("lib", "1.2"))
        if lifetime is None:
            assert context.session_ends == math.inf
        else:
            assert begun + lifetime <= context.session_ends <= time.monotonic() + lifetime


async def test_scram() -> None:
    """Two messages; the server proves that it knows the user's key as well."""
    async with stranger() as client:

        async def says() -> None:
            await client.peer.send(shake(SHA_256))
            await client.shaken()
            steps = exchange(Credentials(SHA_256, "carol", "pencil"), "nonce")
            message = next(steps)
            for _ in range(2):
                await client.peer.send(say(message))
                answer = await client.said()
                assert answer.error_code == 0
                with suppress(StopIteration):
                    message = steps.send(answer.auth_bytes)

        await client.authenticate(says)
        assert client.context.principal == "User:carol"


async def test_requests_in_single_bytes() -> None:
    """Nothing depends on how they are cut."""
    async with stranger() as client:

        async def says() -> None:
            for byte in hello(3) + shake() + say(RIGHT):
                await client.peer.send(bytes([byte]))
                await trio.lowlevel.checkpoint()

        await client.authenticate(says)
        assert client.context.principal == "User:carol"


async def test_what_follows_is_left_to_the_pump() -> None:
    """A client that does not wait: what comes behind its last message is still in the socket."""
    async with stranger() as client:
        await client.peer.send(shake(), say(RIGHT), NEXT)
        await client.unauthenticated.authenticate(10)
        assert client.near.recv(KIB) == NEXT


async def test_messages_without_frames() -> None:
    """Behind SaslHandshake v0 they come bare, with their size; so does the answer."""
    async with stranger() as client:
        await client.peer.send(shake(version=0), frame(RIGHT), NEXT)
        await client.unauthenticated.authenticate(10)
        assert client.context.principal == "User:carol"
        assert (await client.shaken(0)).error_code == 0
        assert await client.heard() == b""
        assert client.near.recv(KIB) == NEXT


async def test_a_refused_message_without_a_frame_has_no_answer() -> None:
    """There is no room for an error in it."""
    async with stranger() as client:
        await client.peer.send(shake(version=0), frame(WRONG))
        fault = await client.fault()
        assert (fault.reason, fault.detail) == (
            Reason.AUTHENTICATION_FAILED,
            "PLAIN: the user is unknown or the password is wrong",
        )
        await client.shaken(0)
        client.near.close()
        assert await client.plain.receive_all() == b""


@pytest.mark.parametrize("message", [WRONG, b"\0nobody\0pencil"])
async def test_a_wrong_password_is_told_late(message: bytes) -> None:
    """58, and no word of whether the user is known; the log says by which mechanism, and not which password."""
    async with stranger() as client:
        await client.peer.send(shake(), say(message))
        begun = time.monotonic()
        fault = await client.fault()
        assert time.monotonic() - begun >= REFUSAL_DELAY
        detail = "PLAIN: the user is unknown or the password is wrong"
        assert (fault.reason, fault.detail) == (Reason.AUTHENTICATION_FAILED, detail)
        await client.shaken()
        answer = await client.said()
        told = "Authentication failed: invalid credentials with SASL mechanism PLAIN"
        assert (answer.error_code, answer.error_message, answer.auth_bytes) == (58, told, b"")


async def test_a_mechanism_that_is_not_offered() -> None:
    """33 with those that are."""
    async with stranger() as client:
        await client.peer.send(shake("GSSAPI"))
        fault = await client.fault()
        assert fault.reason is Reason.AUTHENTICATION_FAILED
        assert fault.detail == "it asks for the mechanism 'GSSAPI', which is not offered"
        assert await client.shaken() == SaslHandshakeResponse(33, [PLAIN, SHA_256])


async def test_a_kerberos_token_first() -> None:
    """As clients of GSSAPI may begin: it is no request of an API that nobody knows."""
    async with stranger() as client:
        await client.peer.send(frame(b"\x60\x82\x02\x10" + bytes(20)))
        fault = await client.fault()
        detail = "it sends a Kerberos token; GSSAPI is not offered"
        assert (fault.reason, fault.detail) == (Reason.AUTHENTICATION_FAILED, detail)


async def test_a_message_without_a_handshake() -> None:
    """Right as it may be, it is refused."""
    async with stranger() as client:
        await client.peer.send(say(RIGHT))
        fault = await client.fault()
        assert fault.reason is Reason.AUTHENTICATION_FAILED
        assert fault.detail == "SaslAuthenticate came without SaslHandshake"
        assert (await client.said()).error_code == 58


@pytest.mark.parametrize("size", [MOST + 1, 2**31 - 1, -1, -(2**31)])
async def test_a_size_that_is_too_large(size: int) -> None:
    """Its four bytes are enough: none of the request is waited for, and nothing is answered."""
    async with stranger() as client:
        await client.peer.send(size.to_bytes(4, "big", signed=True))
        fault = await client.fault()
        assert fault.reason is Reason.FRAME_TOO_LARGE
        assert f"a request of {size} bytes" in fault.detail


async def test_a_size_that_is_just_allowed() -> None:
    """It is read, and refused for what it says."""
    async with stranger() as client:
        around = len(say(b"", 1)) - 4
        longest = say(b"x" * (MOST - around), 1)
        assert len(longest) == 4 + MOST
        await client.peer.send(shake(), longest)
        fault = await client.fault()
        assert (fault.reason, fault.detail) == (Reason.AUTHENTICATION_FAILED, "PLAIN: the message is not PLAIN's")


@pytest.mark.parametrize(
    "sent",
    [
        frame(),
        frame(b"\0\x12\0\0\0\0\0"),
        frame(b"\0\x11\0\1" + bytes(4)),
        frame(_HEAD.pack(HANDSHAKE, 1, 9, 500), b"client"),
        raw_request(HANDSHAKE, 1, b"\0\x05PLAI"),
        raw_request(AUTHENTICATE, 1, b"\0\0\0\x09four"),
        raw_request(AUTHENTICATE, 2, b""),
        raw_request(API_VERSIONS, 3, b"\0\x04lib"),
    ],
)
async def test_what_is_no_request(sent: bytes) -> None:
    """It is not answered."""
    async with stranger() as client:
        await client.peer.send(sent)
        assert (await client.fault()).reason is Reason.MALFORMED_REQUEST
        client.near.close()
        assert await client.plain.receive_all() == b""


@pytest.mark.parametrize(
    ("key", "version"),
    [(HANDSHAKE, 2), (HANDSHAKE, -1), (AUTHENTICATE, 3), (AUTHENTICATE, -1), (AUTHENTICATE, 2**15 - 1)],
)
@pytest.mark.parametrize("before", [b"", hello(3), shake()])
async def test_a_version_that_kproxy_does_not_know(key: int, version: int, before: bytes) -> None:
    """It ends the client, and is no fault in kproxy, which would say that it is not ready."""
    async with stranger() as client:
        await client.peer.send(before, raw_request(key, version, bytes(20)))
        fault = await client.fault()
        assert (fault.reason, fault.api_key) == (Reason.UNSUPPORTED_VERSION, key)
        assert fault.detail.endswith(f", not {version}")


@pytest.mark.parametrize("key", [0, 1, METADATA, 10, 22, 38, 71, 1000])
@pytest.mark.parametrize("before", [b"", hello(3), shake(), shake(SHA_256) + say(b"n,,n=carol,r=nonce")])
async def test_another_api_before_the_authentication(key: int, before: bytes) -> None:
    """Produce, Fetch, Metadata and all others: it ends the client, whatever it has said before, and has no answer."""
    async with stranger() as client:
        await client.peer.send(before, raw_request(key, 0, bytes(20)))
        fault = await client.fault()
        assert (fault.reason, fault.api_key) == (Reason.UNAUTHENTICATED_REQUEST, key)
        client.near.close()
        answers = await client.plain.receive_all()
        assert answers.count(b"\0\0\0\x09") == (0 if not before else 2 if b"nonce" in before else 1)


async def test_requests_without_an_end() -> None:
    """Sixteen are answered; a client that is not authenticated by then never is."""
    async with stranger() as client:
        await client.peer.send(hello(0) * 100)
        fault = await client.fault()
        assert (fault.reason, fault.detail) == (Reason.AUTHENTICATION_FAILED, "not authenticated by 16 requests")
        for _ in range(16):
            await client.versions(0)
        client.near.close()
        with suppress(trio.BrokenResourceError):  # it ends by a reset: most requests are unread
            assert await client.plain.receive_all() == b""


async def test_a_login_that_takes_sixteen_requests() -> None:
    """The last one counts."""
    async with stranger() as client:
        await client.peer.send(hello(0) * 14, shake(), say(RIGHT))
        await client.unauthenticated.authenticate(10)
        assert client.context.principal == "User:carol"


@pytest.mark.parametrize("sent", [b"", b"\0\0", shake()[:-1], hello(3) + shake()])
async def test_a_client_that_does_not_go_on(sent: bytes, bounds: Bounds) -> None:
    """It has so many seconds for all of its requests together."""
    async with stranger() as client:
        if sent:
            await client.peer.send(sent)
        begun = trio.current_time()
        fault = await client.fault(seconds=0.3)
        assert (fault.reason, fault.detail) == (Reason.AUTHENTICATION_TIMEOUT, "not authenticated in 0.3 s")
        took = trio.current_time() - begun
        assert took >= 0.3
        bounds.below(took, 5, "seconds until the end")


async def test_a_client_that_does_not_read() -> None:
    """What it is answered does not fit into the sockets: it has no more time than others."""
    async with stranger(answer=LONG_HELLO, buffer=4 * KIB) as client:
        await client.peer.send(hello(3) * 10)
        assert (await client.fault(seconds=0.3)).reason is Reason.AUTHENTICATION_TIMEOUT


async def test_a_client_that_reads_slowly() -> None:
    """It gets all of an answer that does not fit into the sockets."""
    async with stranger(answer=LONG_HELLO, buffer=4 * KIB) as client:

        async def says() -> None:
            await client.peer.send(hello(3), shake(), say(RIGHT))
            assert len((await client.versions(3)).supported_features) == len(LONG_HELLO.supported_features)

        await client.authenticate(says)


@pytest.mark.parametrize("sent", [b"", b"\0\0", shake()[:-1], shake(), shake(SHA_256) + say(b"n,,n=carol,r=nonce")])
async def test_a_client_that_closes(sent: bytes) -> None:
    """Whatever it has said before."""
    async with stranger() as client:
        if sent:
            await client.peer.send(sent)
        client.plain.half_close()
        fault = await client.fault()
        assert (fault.reason, fault.detail) == (Reason.CLIENT_CLOSED, "before it was authenticated")


async def test_a_client_that_resets() -> None:
    """While kproxy waits for its next request."""
    async with stranger() as client:
        await client.peer.send(shake()[:-1])
        fault = await client.fault(client.plain.reset)
        assert (fault.reason, fault.detail) == (Reason.CLIENT_RESET, "Connection reset by peer")


async def test_a_client_that_is_gone_before_it_is_answered() -> None:
    """As one that guesses, and does not wait for the refusal."""
    async with stranger() as client:

        async def says() -> None:
            await client.peer.send(shake(), say(WRONG))
            await client.shaken()
            await client.plain.reset()

        assert (await client.fault(says)).reason is Reason.CLIENT_RESET


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4, 5])
async def test_versions_are_those_of_the_broker_and_of_kproxy(version: int) -> None:
    """SaslAuthenticate is kproxy's own; a feature from level 0 on is named from v4 on (KIP-584); v5 has v4's form."""
    async with stranger() as client:
        await client.peer.send(hello(version), shake(), say(RIGHT))
        await client.unauthenticated.authenticate(10)
        answer = await client.versions(min(version, 4))
        assert answer.error_code == 0
        served = {one.api_key: (one.min_version, one.max_version) for one in answer.api_keys}
        assert served == {METADATA: (0, 13), HANDSHAKE: (0, 1), API_VERSIONS: (0, 5), AUTHENTICATE: (0, 2)}
        named = {one.name for one in answer.supported_features}
        assert named == (set() if version < 3 else {"from-one"} if version == 3 else {"from-zero", "from-one"})
        assert answer.finalized_features_epoch == (7 if version >= 3 else -1)
    assert len(HELLO.supported_features) == 2, "the broker's answer is for all clients"


async def test_a_version_that_nobody_knows() -> None:
    """Error 35 in a v0 body, as of a broker; the client asks again."""
    async with stranger(answer=None) as client:
        await client.peer.send(raw_request(API_VERSIONS, 99, b"\0"))
        fault = await client.fault(seconds=0.3)
        assert fault.reason is Reason.AUTHENTICATION_TIMEOUT
        answer = await client.versions(0)
        assert (answer.error_code, answer.api_keys) == (35, [ApiVersion(API_VERSIONS, 0, 5)])


async def test_versions_while_no_broker_was_reached() -> None:
    """The client is ended, and tries again; one that asks for no versions is authenticated."""
    async with stranger(answer=None) as client:
        await client.peer.send(hello(3))
        fault = await client.fault()
        assert (fault.reason, fault.detail) == (
            Reason.CONNECT_FAILED,
            "no broker has told yet which versions it serves",
        )
    async with stranger(answer=None) as client:
        await client.peer.send(shake(), say(RIGHT))
        await client.unauthenticated.authenticate(10)


def outdate(client: Stranger) -> None:
    """Have the virtual cluster switch to another upstream; its clients are told to bootstrap again."""
    backend = client.context.cluster
    assert isinstance(backend, Backend)
    backend.epoch, backend.means = 1, Action.NOTIFY


async def test_a_client_of_an_earlier_topology_is_told() -> None:
    """ApiVersions v5 has 129 for its answer (KIP-1242), before the authentication as behind it."""
    async with stranger(node_id=5) as client:
        outdate(client)
        await client.peer.send(hello(5))
        assert (await client.fault()).reason is Reason.REBOOTSTRAP
        assert (await client.versions(4)).error_code == 129


async def test_a_client_of_an_earlier_topology_that_cannot_be_told() -> None:
    """Its version has no such answer: it is ended."""
    async with stranger(node_id=5) as client:
        outdate(client)
        await client.peer.send(hello(3))
        assert (await client.fault()).reason is Reason.REBOOTSTRAP
        client.near.close()
        assert await client.plain.receive_all() == b""


@pytest.mark.parametrize(
    ("names", "noted"),
    [
        ((None, None), None),
        (("one", None), "one"),
        (("one", "two"), "two"),
        (("", ""), ""),
        (("n" * (MAX_NAME + 1), None), "n" * MAX_NAME),
    ],
)
async def test_the_client_id(names: tuple[str | None, str | None], noted: str | None) -> None:
    """The last one that was named, cut."""
    async with stranger() as client:
        await client.peer.send(
            request(SaslHandshakeRequest(PLAIN), 1, names[0]), request(SaslAuthenticateRequest(RIGHT), 2, names[1])
        )
        await client.unauthenticated.authenticate(10)
        assert client.context.client_id == noted


async def test_over_tls(tls: tuple[ServerContext, BrokerContext]) -> None:
    """Requests may come in any records; the one behind the authentication is the pump's."""
    async with stranger(tls=tls) as client:
        whole = hello(3) + shake() + say(RIGHT)
        for part in (whole[:2], whole[2:70], whole[70:], NEXT):
            await client.peer.send(part)
        await client.unauthenticated.authenticate(10)
        assert client.context.principal == "User:carol"
        assert await client.versions(3)
        assert (await client.shaken()).error_code == 0
        assert (await client.said()).error_code == 0
        assert client.near.recv(KIB) == NEXT


async def test_a_request_in_the_authentications_own_record(tls: tuple[ServerContext, BrokerContext]) -> None:
    """OpenSSL has it already, where the pump would not see it: the client is ended. No real client sends so."""
    async with stranger(tls=tls) as client:
        await client.peer.send(shake(), say(RIGHT), NEXT)
        fault = await client.fault()
        assert fault.reason is Reason.UNAUTHENTICATED_REQUEST
        assert fault.detail == "a request came together with the authentication"


async def test_an_end_without_close_notify(tls: tuple[ServerContext, BrokerContext]) -> None:
    """Many clients end so: it is an end, and no reset."""
    async with stranger(tls=tls) as client:

        async def says() -> None:
            await client.peer.send(shake())
            await client.shaken()
            await client.peer.close()

        fault = await client.fault(says)
        assert (fault.reason, fault.detail) == (Reason.CLIENT_CLOSED, "before it was authenticated")


async def test_a_reset_over_tls(tls: tuple[ServerContext, BrokerContext]) -> None:
    """The log has no text of OpenSSL's sources in it; bytes that are no TLS are said to be so."""
    async with stranger(tls=tls) as client:
        client.peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        await client.peer.close()
        fault = await client.fault()
        assert fault.reason is Reason.CLIENT_RESET
        assert "_ssl.c" not in fault.detail
    async with stranger(tls=tls) as client:
        socket.socket.send(client.peer.sock, b"no TLS at all, and never was")
        fault = await client.fault()
        assert (fault.reason, fault.detail) == (Reason.CLIENT_RESET, "WRONG_VERSION_NUMBER")


async def test_a_long_answer_over_tls(tls: tuple[ServerContext, BrokerContext]) -> None:
    """What does not fit waits until the client has read."""
    async with stranger(tls=tls, answer=LONG_HELLO, buffer=4 * KIB) as client:

        async def says() -> None:
            await client.peer.send(hello(3))
            assert len((await client.versions(3)).supported_features) == len(LONG_HELLO.supported_features)
            await client.peer.send(shake())
            await client.shaken()
            await client.peer.send(say(RIGHT))

        await client.authenticate(says)
