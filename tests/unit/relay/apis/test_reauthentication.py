"""A client that authenticates to kproxy again on its connection (KIP-368): what it is answered, and what ends it."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable

import pytest
import trio

from kproxy.authentication.authenticator import MOST_BYTES, Authenticator
from kproxy.authentication.exchange import AuthenticationUnavailableError, Step
from kproxy.authentication.users import Users, credential
from kproxy.observe.reasons import Reason
from kproxy.protocol.api_table import ApiTable
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.relay.apis import reauthentication
from kproxy.relay.apis.reauthentication import policies
from kproxy.upstream.sasl import Credentials, exchange
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.generated.sasl_handshake_response import SaslHandshakeResponse
from kproxy.wire.header import decode_response_header
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay, Script, Side, play

HANDSHAKE, AUTHENTICATE = 17, 36
Work = Callable[[], Awaitable[None]]
PLAIN, SHA_256 = "PLAIN", "SCRAM-SHA-256"
USERS = Users({(SHA_256, name): credential(SHA_256, "pencil", b"salt", 4096) for name in ("carol", "dave")}, b"secret")
RIGHT, WRONG, ANOTHER = b"\0carol\0pencil", b"\0carol\0hunter2", b"\0dave\0pencil"
ENDS = 4321.0
"""When the session ends that a connection has at first."""


class Clock:
    """Stands in for the module `time`; it stands still, unless it is put forward."""

    def __init__(self) -> None:
        self.now = 5000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(reauthentication, "time", made)
    return made


def authenticator(lifetime: float | None = None, *mechanisms: str) -> Authenticator:
    """Two users of one password."""
    return Authenticator(mechanisms or (PLAIN, SHA_256), USERS, lifetime)


class At:
    """The virtual cluster. What is to be done in a task is done at once, or kept in `tasks` where there are some."""

    def __init__(self, by: Authenticator | None) -> None:
        self.authenticator = by
        self.audited: list[tuple[str, str | None]] = []
        self.tasks: list[Work] | None = None

    def audit(self, context: Context, mechanism: str, refused: str | None) -> None:
        """As `Authenticating` says."""
        assert context.principal == "User:carol"
        self.audited.append((mechanism, refused))

    def run(self, work: Work) -> None:
        """As `Authenticating` says."""
        if self.tasks is None:
            trio.run(work)
        else:
            self.tasks.append(work)


def connection(at: At) -> Relay:
    """Return the connection of a client that has authenticated as carol."""
    relay = Relay(others=policies(at))
    relay.context.principal, relay.context.session_ends = "User:carol", ENDS
    return relay


def of(lifetime: float | None = None) -> Callable[[], Relay]:
    """Return what makes such connections; sessions last so long."""
    by = authenticator(lifetime)
    return lambda: connection(At(by))


def shakes(number: int, mechanism: str = PLAIN, version: int = 1) -> tuple[Side, bytes]:
    return "client", frames.request(HANDSHAKE, version, number, {"Mechanism": mechanism})


def says(number: int, message: bytes, version: int = 2) -> tuple[Side, bytes]:
    return "client", frames.request(AUTHENTICATE, version, number, {"AuthBytes": message})


def heard(frame: bytes, version: int = 2) -> SaslAuthenticateResponse:
    """Return the answer to SaslAuthenticate in a frame."""
    _, body = decode_response_header(frame, 0, len(frame), AUTHENTICATE, version)
    return SaslAuthenticateResponse.decode(frame[body:], version)


def answers(relay: Relay) -> list[bytes]:
    """Return the frames that the client got, without their sizes."""
    return list(frames.split(bytes(relay.client.data)))


def unmoved(relay: Relay) -> bool:
    """Return whether principal and session are those from before."""
    return (relay.context.principal, relay.context.session_ends) == ("User:carol", ENDS)


@pytest.mark.parametrize(("lifetime", "told", "ends"), [(60.0, 60_000, 5060.0), (None, 0, math.inf)])
@every("version", frames.versions(AUTHENTICATE))
def test_the_session_moves_on(lifetime: float | None, told: int, ends: float, version: int) -> None:
    """Other requests pass meanwhile, and answers keep their order; the broker sees neither of SASL's requests."""
    there, back = frames.heartbeat(2)
    script: Script = [shakes(1), ("client", there), says(3, RIGHT, version), ("broker", back)]
    relay = play(script, of(lifetime))
    assert (relay.reason, relay.requests.last) == (None, None)
    assert bytes(relay.broker.data) == there
    first, second, third = answers(relay)
    assert SaslHandshakeResponse.decode(first[4:], 1) == SaslHandshakeResponse(mechanisms=[PLAIN, SHA_256])
    assert second == back[4:]
    answer = heard(third, version)
    assert (answer.error_code, answer.session_lifetime_ms) == (0, told if version else 0)
    assert (relay.context.principal, relay.context.session_ends) == ("User:carol", ends)


def test_scram() -> None:
    """Its first message moves nothing."""
    relay = of(60.0)()
    steps = exchange(Credentials(SHA_256, "carol", "pencil"), "nonce")
    relay.feed(*shakes(1, SHA_256))
    relay.feed(*says(2, next(steps)))
    assert unmoved(relay)
    relay.feed(*says(3, steps.send(heard(answers(relay)[1]).auth_bytes)))
    with pytest.raises(StopIteration):  # the client has checked that kproxy knows its key
        steps.send(heard(answers(relay)[2]).auth_bytes)
    assert (relay.reason, relay.context.session_ends) == (None, 5060.0)


def test_not_twice_within_a_second(clock: Clock) -> None:
    """Counted from handshake to handshake, so that an exchange that is not finished counts as well."""
    relay = of(60.0)()
    relay.feed(*shakes(1))
    relay.feed(*says(2, RIGHT))
    clock.now += 1
    relay.feed(*shakes(3))
    clock.now += 0.99
    assert (relay.reason, len(answers(relay))) == (None, 3)
    relay.feed(*shakes(4))
    why = "the client authenticates twice within 1 s"
    assert (relay.reason, relay.detail) == (Reason.AUTHENTICATION_FAILED, why)
    assert (len(answers(relay)), bytes(relay.broker.data)) == (3, b"")


def test_at_once_behind_a_success() -> None:
    """When it began is known also after its end."""
    relay = play([shakes(1), says(2, RIGHT), shakes(3)], of())
    why = "the client authenticates twice within 1 s"
    assert (relay.reason, relay.detail) == (Reason.AUTHENTICATION_FAILED, why)


UNKNOWN = "PLAIN: the user is unknown or the password is wrong"


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (WRONG, UNKNOWN),
        (b"\0nobody\0pencil", UNKNOWN),
        (ANOTHER, "PLAIN: it was User:carol, and now proves to be User:dave"),
        (b"carol\0dave\0pencil", "PLAIN: the client asks to be another user than it proves to be"),
        (b"no PLAIN", "PLAIN: the message is not PLAIN's"),
    ],
)
def test_a_refusal(message: bytes, why: str) -> None:
    """58, and the connection ends behind it, also where somebody else has the right password; the log says why."""
    relay = play([shakes(1), says(2, message)], of(60.0))
    answer = heard(answers(relay)[1])
    told = "Authentication failed: invalid credentials with SASL mechanism PLAIN"
    assert (answer.error_code, answer.error_message, answer.session_lifetime_ms) == (58, told, 0)
    assert (relay.requests.last, relay.requests.last_detail) == (Reason.AUTHENTICATION_FAILED, why)
    assert unmoved(relay)


def test_a_mechanism_that_is_not_offered() -> None:
    """33 with those that are, and the end."""
    relay = play([shakes(1, "GSSAPI")], of())
    (answer,) = answers(relay)
    assert SaslHandshakeResponse.decode(answer[4:], 1) == SaslHandshakeResponse(33, [PLAIN, SHA_256])
    why = "it asks for the mechanism 'GSSAPI', which is not offered"
    assert (relay.requests.last, relay.requests.last_detail) == (Reason.AUTHENTICATION_FAILED, why)
    assert unmoved(relay)


@pytest.mark.parametrize("before", [[], [shakes(1), says(2, RIGHT)]])
def test_a_message_without_a_handshake(before: Script) -> None:
    """A handshake counts for one exchange."""
    relay = play([*before, says(3, RIGHT)], of())
    assert relay.reason is Reason.AUTHENTICATION_FAILED
    assert relay.detail.startswith("SaslAuthenticate came without SaslHandshake")
    assert len(answers(relay)) == len(before)


def test_another_handshake_begins_anew(clock: Clock) -> None:
    """A client may choose another mechanism, half an exchange is dropped."""
    relay = of(60.0)()
    relay.feed(*shakes(1, SHA_256))
    relay.feed(*says(2, b"n,,n=carol,r=nonce"))
    clock.now += 1
    relay.feed(*shakes(3))
    relay.feed(*says(4, RIGHT))
    assert (relay.reason, heard(answers(relay)[3]).error_code) == (None, 0)
    assert relay.context.session_ends == 5061.0


def test_a_reload_that_takes_authentication_away() -> None:
    """A client cannot authenticate any more; an exchange that has begun ends well."""
    relay = connection(At(None))
    relay.feed(*shakes(1))
    assert relay.reason is Reason.AUTHENTICATION_FAILED
    assert relay.detail == "a reload took `authentication` away"
    at = At(authenticator(60.0))
    relay = connection(at)
    relay.feed(*shakes(1))
    at.authenticator = None
    relay.feed(*says(2, RIGHT))
    assert (relay.reason, relay.context.session_ends) == (None, 5060.0)


def test_a_reload_that_changes_the_lifetime() -> None:
    """What the client is told is what counts, also where the reload comes in the midst of its exchange."""
    at = At(authenticator(60.0))
    relay = connection(at)
    relay.feed(*shakes(1))
    at.authenticator = authenticator(2.0)
    relay.feed(*says(2, RIGHT))
    assert heard(answers(relay)[1]).session_lifetime_ms == 60_000
    assert relay.context.session_ends == 5060.0


def test_a_reload_that_changes_the_mechanisms() -> None:
    """The next handshake knows."""
    at = At(authenticator())
    relay = connection(at)
    at.authenticator = authenticator(None, SHA_256)
    relay.feed(*shakes(1))
    (answer,) = answers(relay)
    assert SaslHandshakeResponse.decode(answer[4:], 1) == SaslHandshakeResponse(33, [SHA_256])


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (shakes(1, version=0), Reason.UNSUPPORTED_VERSION),
        (("client", frames.raw_request(HANDSHAKE, 1, 1, b"\xff\xff\0\x05PLAI")), Reason.MALFORMED_REQUEST),
        (("client", frames.raw_request(AUTHENTICATE, 1, 1, b"\xff\xff\0\0\0\x09four")), Reason.MALFORMED_REQUEST),
        (says(1, bytes(MOST_BYTES)), Reason.FRAME_TOO_LARGE),
    ],
)
def test_what_is_not_answered(sent: tuple[Side, bytes], reason: Reason) -> None:
    """Handshake v0, whose messages would come bare; what is no request; what is too long."""
    before: Script = [shakes(7)] if sent[1][4:6] == b"\0\x24" else []
    relay = play([*before, sent], of())
    ended = relay.reason or relay.requests.last
    assert (ended, bytes(relay.broker.data), len(answers(relay))) == (reason, b"", len(before))
    assert unmoved(relay)


def test_clients_are_told_that_they_may() -> None:
    """By ApiVersions, whatever the broker knows; v0 of SaslHandshake is for the time before the authentication."""
    assert ApiTable(Cluster().counters, policies(At(authenticator()))).own() == (
        (HANDSHAKE, 0, 1),
        (AUTHENTICATE, 0, 2),
    )


def test_the_relay_goes_on_meanwhile() -> None:
    """A check takes its time in a task; requests behind it pass, and their responses wait for its answer."""
    at = At(authenticator(60.0))
    at.tasks = []
    relay = connection(at)
    there, back = frames.heartbeat(3)
    for step in (shakes(1), says(2, RIGHT), ("client", there), ("broker", back)):
        relay.feed(*step)
    assert (bytes(relay.broker.data), len(answers(relay)), at.audited) == (there, 1, [])
    (work,) = at.tasks
    trio.run(work)
    assert [answer[:4] for answer in answers(relay)[1:]] == [b"\0\0\0\2", b"\0\0\0\3"]
    assert (relay.reason, relay.context.session_ends, at.audited) == (None, 5060.0, [(PLAIN, None)])


@pytest.mark.parametrize("hasty", [says(3, RIGHT), shakes(3)])
def test_one_at_a_time(clock: Clock, hasty: tuple[Side, bytes]) -> None:
    """What comes before the last message is answered ends the connection."""
    at = At(authenticator(60.0))
    at.tasks = []
    relay = connection(at)
    relay.feed(*shakes(1))
    relay.feed(*says(2, RIGHT))
    clock.now += 2
    relay.feed(*hasty)
    assert relay.reason is Reason.AUTHENTICATION_FAILED
    assert len(at.tasks) == 1


def test_a_refusal_that_comes_later() -> None:
    """The connection ends behind it; it is counted with its reason."""
    at = At(authenticator(60.0))
    at.tasks = []
    relay = connection(at)
    relay.feed(*shakes(1))
    relay.feed(*says(2, ANOTHER))
    trio.run(at.tasks[0])
    assert (heard(answers(relay)[1]).error_code, relay.requests.last) == (58, Reason.AUTHENTICATION_FAILED)
    assert at.audited == [(PLAIN, "it was User:carol, and now proves to be User:dave")]


class _Raises:
    def __init__(self, error: Exception) -> None:
        self._error = error

    async def step(self, message: bytes) -> Step:
        del message
        raise self._error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (AuthenticationUnavailableError("no keys"), Reason.AUTHENTICATION_UNAVAILABLE),
        (Fault(Reason.AUTHENTICATION_LIMIT, "too many wait"), Reason.AUTHENTICATION_LIMIT),
        (RuntimeError("a fault"), Reason.INTERNAL_ERROR),
    ],
)
def test_nobody_can_be_authenticated(monkeypatch: pytest.MonkeyPatch, error: Exception, reason: Reason) -> None:
    """The connection ends without an answer, so that its client tries again; a fault is left to the task's boundary."""
    by = authenticator(60.0)
    monkeypatch.setattr(by, "begin", lambda *_: _Raises(error))
    at = At(by)
    at.tasks = []
    relay = connection(at)
    relay.feed(*shakes(1))
    relay.feed(*says(2, RIGHT))
    if reason is Reason.INTERNAL_ERROR:
        with pytest.raises(RuntimeError):
            trio.run(at.tasks[0])
    else:
        trio.run(at.tasks[0])
    assert (len(answers(relay)), relay.requests.last) == (1, reason)
    assert unmoved(relay)
