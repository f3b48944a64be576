"""Kafka's requests of SASL as kproxy answers them: what is offered, what is accepted, and what a refusal tells."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from kproxy.authentication.authenticator import Authenticator, read_authenticator
from kproxy.authentication.exchange import Step
from kproxy.authentication.login import Login
from kproxy.authentication.users import Users, credential, line_of
from kproxy.config.authentication import Authentication
from kproxy.errors import ConfigError, MalformedMessageError
from kproxy.upstream.sasl import Credentials, exchange
from kproxy.wire.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kproxy.wire.generated.sasl_handshake_request import SaslHandshakeRequest
from kproxy.wire.generated.sasl_handshake_response import SaslHandshakeResponse
from kproxy.wire.header import decode_response_header

SHA_256 = "SCRAM-SHA-256"
CREDENTIAL = credential(SHA_256, "pencil", b"salt", 4096)
RIGHT, WRONG = b"\0carol\0pencil", b"\0carol\0wrong"


async def at_once(check: Callable[[], Step]) -> Step:
    """Check a password without a thread."""
    return check()


def login(lifetime: float | None = None) -> Login:
    """A client that has said nothing yet; PLAIN and SCRAM are offered."""
    by = Authenticator(("PLAIN", SHA_256), Users({(SHA_256, "carol"): CREDENTIAL}, b""), lifetime)
    return Login(by, at_once)


def handshake(mechanism: str, version: int = 1) -> memoryview:
    """A SaslHandshake request."""
    return memoryview(struct.pack(">hhih", 17, version, 5, -1) + SaslHandshakeRequest(mechanism).encode(version))


def authenticate(message: bytes, version: int = 2) -> memoryview:
    """A SaslAuthenticate request."""
    head = struct.pack(">hhih", 36, version, 6, -1) + (b"\0" if version > 1 else b"")
    return memoryview(head + SaslAuthenticateRequest(message).encode(version))


def answer(frame: bytes, version: int = 2) -> SaslAuthenticateResponse:
    """The response in a frame, which has its size."""
    correlation_id, body = decode_response_header(frame, 4, len(frame), 36, version)
    assert correlation_id == 6
    return SaslAuthenticateResponse.decode(frame[body:], version)


@pytest.mark.parametrize(("lifetime", "version", "told"), [(None, 2, 0), (1.5, 2, 1500), (1.5, 1, 1500), (1.5, 0, 0)])
async def test_a_user_is_accepted_and_told_for_how_long(lifetime: float | None, version: int, told: int) -> None:
    """Version 0 has no room for the session's lifetime."""
    client = login(lifetime)
    shaken = client.shake(handshake("PLAIN"))
    offered = SaslHandshakeResponse.decode(shaken.frame[8:], 1)
    assert (offered.error_code, offered.mechanisms, shaken.refusal) == (0, ["PLAIN", SHA_256], "")
    said = await client.say(authenticate(RIGHT, version))
    assert said.principal == "User:carol"
    assert (answer(said.frame, version).error_code, answer(said.frame, version).session_lifetime_ms) == (0, told)


def test_a_mechanism_that_is_not_offered() -> None:
    """The client is told which are; the log shows no control character of it."""
    shaken = login().shake(handshake("GSS\nAPI"))
    offered = SaslHandshakeResponse.decode(shaken.frame[8:], 1)
    assert (offered.error_code, offered.mechanisms) == (33, ["PLAIN", SHA_256])
    assert shaken.refusal == "it asks for the mechanism 'GSS?API', which is not offered"


async def test_a_refusal_tells_the_client_nothing() -> None:
    """A wrong password and an unknown user are answered alike."""
    answers = set()
    for message in (WRONG, b"\0nobody\0pencil", b"no PLAIN"):
        client = login()
        client.shake(handshake("PLAIN"))
        said = await client.say(authenticate(message))
        assert said.principal is None
        assert said.refusal
        answers.add(said.frame)
    (frame,) = answers
    assert answer(frame).error_code == 58
    assert answer(frame).error_message == "Authentication failed: invalid credentials with SASL mechanism PLAIN"


async def test_an_exchange_counts_once() -> None:
    """What comes without a handshake, or behind the end of an exchange, is refused."""
    assert (await login().say(authenticate(RIGHT))).refusal == "SaslAuthenticate came without SaslHandshake"
    client = login()
    client.shake(handshake("PLAIN"))
    assert (await client.say(authenticate(RIGHT))).principal
    assert (await client.say(authenticate(RIGHT))).refusal == "SaslAuthenticate came without SaslHandshake"


async def test_scram_takes_two_messages() -> None:
    """The first has a challenge in its answer, and no principal."""
    client = login()
    client.shake(handshake(SHA_256))
    said = await client.say(authenticate(b"n,,n=carol,r=x"))
    assert (said.principal, said.refusal) == (None, "")
    assert answer(said.frame).auth_bytes.endswith(b",i=4096")


async def test_only_passwords_take_turns() -> None:
    """And of them only those that were not right before: SCRAM's proofs take kproxy a few hashes."""
    turns = list[Callable[[], Step]]()

    async def in_turn(check: Callable[[], Step]) -> Step:
        turns.append(check)
        return check()

    by = Authenticator(("PLAIN", SHA_256), Users({(SHA_256, "carol"): CREDENTIAL}, b""), None)
    for _ in range(2):
        client = Login(by, in_turn)
        client.shake(handshake("PLAIN"))
        assert (await client.say(authenticate(RIGHT))).principal
    assert len(turns) == 1
    client = Login(by, in_turn)
    client.shake(handshake(SHA_256))
    steps = exchange(Credentials(SHA_256, "carol", "pencil"), "nonce")
    said = await client.say(authenticate(next(steps)))
    said = await client.say(authenticate(steps.send(answer(said.frame).auth_bytes)))
    assert (said.principal, len(turns)) == ("User:carol", 1)


async def test_messages_without_frames() -> None:
    """Behind SaslHandshake v0 come bare messages with their size; a refusal has no answer."""
    client = login()
    client.shake(handshake("PLAIN", 0))
    assert client.unframed
    assert (await client.say_unframed(RIGHT)).frame == b"\0\0\0\0"
    client = login()
    client.shake(handshake("PLAIN", 0))
    refused = await client.say_unframed(WRONG)
    assert (refused.frame, refused.principal, bool(refused.refusal)) == (b"", None, True)


async def test_requests_that_are_none() -> None:
    """They are no refusal, but malformed."""
    with pytest.raises(MalformedMessageError):
        login().shake(memoryview(bytes(handshake("PLAIN"))[:-1]))
    with pytest.raises(MalformedMessageError):
        await login().say(memoryview(bytes(authenticate(RIGHT))[:-4]))


def test_the_file_of_users(tmp_path: Path) -> None:
    """It is read, and what is wrong with it names the setting and the file."""
    file = tmp_path / "users"
    settings = Authentication(users_file=str(file), mechanisms=("SCRAM-SHA-256",))
    with pytest.raises(ConfigError, match=r"a\.users_file.*No such file"):
        read_authenticator(settings, "a")
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        read_authenticator(settings, "a")
    file.write_text(line_of("carol", CREDENTIAL) + "\n")
    found = read_authenticator(settings, "a")
    assert found.begin(SHA_256, at_once) is not None
    assert found.begin("PLAIN", at_once) is None
