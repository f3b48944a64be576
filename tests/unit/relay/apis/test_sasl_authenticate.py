"""SaslAuthenticate: every byte passes, and the name that the broker accepted is the connection's principal."""

from __future__ import annotations

import pytest

from kproxy.observe.reasons import Reason
from kproxy.relay.apis.sasl import MAX_REQUEST, Exchanges
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, Script, Side, bytewise, play, whole

KEY = 36
HANDSHAKE = 17
VERSIONS = frames.versions(KEY)
FAILED = 58
PLAIN = b"\0alice\0s3cr3t"


def handshake(number: int, mechanism: str = "PLAIN") -> Script:
    """The client asks for a mechanism, and the broker accepts it."""
    asked = frames.request(HANDSHAKE, 1, number, {"Mechanism": mechanism})
    return [("client", asked), ("broker", frames.response(HANDSHAKE, 1, number, {"Mechanisms": [mechanism]}))]


def says(number: int, message: bytes, version: int = 2) -> tuple[Side, bytes]:
    return "client", frames.request(KEY, version, number, {"AuthBytes": message})


def hears(number: int, challenge: bytes = b"", version: int = 2, error: int = 0) -> tuple[Side, bytes]:
    content = {"ErrorCode": error, "ErrorMessage": "no" if error else None, "AuthBytes": challenge}
    return "broker", frames.response(KEY, version, number, content)


def passes(script: Script) -> Relay:
    """Play a script of which every byte must pass as it is, however it is cut."""
    relay = play(script)
    sent = {side: b"".join(data for by, data in script if by == side) for side in ("client", "broker")}
    passed = (bytes(relay.broker.data), bytes(relay.client.data))
    assert (relay.reason, *passed) == (None, sent["client"], sent["broker"])
    return relay


@pytest.mark.parametrize("version", VERSIONS)
def test_plain(version: int) -> None:
    """One message; the principal is known once the broker has accepted it, and not before."""
    script = [*handshake(1), says(2, PLAIN, version)]
    assert passes(script).context.principal is None
    relay = passes([*script, hears(2, version=version)])
    assert (relay.context.principal, relay.context.find(Exchanges), relay.errors()) == ("User:alice", None, {})


@pytest.mark.parametrize("version", VERSIONS)
def test_a_wrong_password_leaves_no_principal(version: int) -> None:
    """The error is counted once, for every cut."""
    relay = passes([*handshake(1), says(2, PLAIN, version), hears(2, version=version, error=FAILED)])
    assert (relay.context.principal, relay.errors()) == (None, {(KEY, version): {FAILED: 1}})


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_scram(mechanism: str) -> None:
    """Two messages: the name is in the first, and the answer to the second proves it."""
    begun = [*handshake(1, mechanism), says(2, b"n,,n=al=2Cice,r=abc"), hears(2, b"r=abcdef,s=c2FsdA==,i=4096")]
    relay = passes([*begun, says(3, b"c=biws,r=abcdef,p=cHJvb2Y=")])
    assert relay.context.principal is None
    ended = [*begun, says(3, b"c=biws,r=abcdef,p=cHJvb2Y="), hears(3, b"v=dmVyaWZpZXI=")]
    assert passes(ended).context.principal == "User:al,ice"
    refused = [*begun, says(3, b"c=biws,r=abcdef,p=cHJvb2Y="), hears(3, error=FAILED)]
    assert passes(refused).context.principal is None


def test_without_a_handshake_nothing_is_learnt() -> None:
    """The mechanism of a message is not guessed."""
    assert passes([says(2, PLAIN), hears(2)]).context.principal is None


def test_authenticating_again_names_anew() -> None:
    """KIP-368: on the same connection, with requests between; a failed attempt leaves the principal as it is."""
    first = [*handshake(1), says(2, PLAIN), hears(2)]
    between: Script = [("client", frames.heartbeat(3)[0]), ("broker", frames.heartbeat(3)[1])]
    again = [*handshake(4), says(5, b"\0bob\0s3cr3t")]
    assert passes([*first, *between, *again, hears(5)]).context.principal == "User:bob"
    assert passes([*first, *between, *again, hears(5, error=FAILED)]).context.principal == "User:alice"


def test_answers_are_matched_with_their_requests() -> None:
    """A client that pipelines a guessed name and its own is not taken for the guessed one."""
    script = [*handshake(1), says(2, b"\0admin\0guess"), *handshake(3)[:1], says(4, PLAIN)]
    relay = passes(
        [*script, hears(2, error=FAILED), ("broker", frames.response(HANDSHAKE, 1, 3)), hears(4), says(5, PLAIN)]
    )
    assert relay.context.principal == "User:alice"


@every("version", VERSIONS)
@pytest.mark.parametrize("rest", [b"", b"\xff\xff", b"\xff\xff\xff\xff\xff\xff", b"\xff\xff\0\0\0\0\x09abc"])
def test_malformed_requests_pass(version: int, rest: bytes) -> None:
    """The broker refuses them; even if it did not, no name would be learnt from them."""
    script: Script = [*handshake(1), ("client", frames.raw_request(KEY, version, 2, rest)), hears(2, version=version)]
    assert passes(script).context.principal is None


@every("version", VERSIONS)
@pytest.mark.parametrize("body", [b"", b"\0", b"\0\0", b"\0\0\0\0\x7f\xff\xff\xff"])
def test_malformed_answers_pass(version: int, body: bytes) -> None:
    """The client reads the broker's answer for itself; the name is not believed."""
    answer = frames.raw_response(KEY, version, 2, body)
    relay = passes([*handshake(1), says(2, PLAIN, version), ("broker", answer)])
    assert (relay.context.principal, relay.errors()) == (None, {})


def test_bytes_behind_the_last_field_pass() -> None:
    """Fields that are not known yet do not keep a principal from being learnt."""
    _, asked = says(2, PLAIN, 1)
    longer = (len(asked) - 4 + 3).to_bytes(4, "big") + asked[4:] + b"xyz"
    assert passes([*handshake(1), ("client", longer), hears(2, version=1)]).context.principal == "User:alice"


def test_tokens_have_a_limit() -> None:
    """A message is held whole; one that is larger than any broker takes is refused when its size is announced."""
    _, asked = says(2, b"x" * (MAX_REQUEST - 100))
    relay = Relay().play(handshake(1), whole)
    before = bytes(relay.broker.data)
    relay.feed("client", asked)
    assert (relay.reason, bytes(relay.broker.data)) == (None, before + asked)
    relay = Relay().play(handshake(1), whole)
    relay.feed("client", says(2, b"x" * MAX_REQUEST)[1][:100])
    assert (relay.reason, bytes(relay.broker.data)) == (Reason.FRAME_TOO_LARGE, before)


def test_at_a_node_that_is_gone() -> None:
    """SASL works there, so that clients can be notified; the principal is learnt there, too."""
    script = [*handshake(1), says(2, PLAIN), hears(2)]
    relay = Relay(retired=True).play(script, bytewise)
    assert (relay.reason, relay.context.principal) == (None, "User:alice")
