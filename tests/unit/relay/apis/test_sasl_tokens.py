"""SaslHandshake v0: the tokens behind it have no header, and the broker gets them in SaslAuthenticate requests."""

from __future__ import annotations

import pytest

from kproxy.observe.reasons import Reason
from kproxy.relay.apis.sasl import MAX_REQUEST, Exchanges
from kproxy.relay.requests import FIRST_HELD
from kproxy.wire.primitives import frame as framed
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Cut, Relay, Script, Side, by, play, whole

HANDSHAKE, AUTHENTICATE = 17, 36
FAILED = 58
PLAIN = b"\0alice\0s3cr3t"
CLIENT_FIRST, CLIENT_FINAL = b"n,,n=alice,r=abc", b"c=biws,r=abcdef,p=cHJvb2Y="
SERVER_FIRST, SERVER_FINAL = b"r=abcdef,s=c2FsdA==,i=4096", b"v=dmVyaWZpZXI="
PING, PONG = frames.heartbeat(7)


def asks(mechanism: str, version: int = 0) -> bytes:
    return frames.request(HANDSHAKE, version, 5, {"Mechanism": mechanism})


def answers(mechanism: str, error: int = 0) -> bytes:
    return frames.response(HANDSHAKE, 0, 5, {"ErrorCode": error, "Mechanisms": [mechanism]})


def wrapped(token: bytes) -> bytes:
    """The request that the broker gets a token in."""
    return frames.request(AUTHENTICATE, 0, 0, {"AuthBytes": token})


def hears(token: bytes = b"", error: int = 0) -> tuple[Side, bytes]:
    content = {"ErrorCode": error, "ErrorMessage": "no" if error else None, "AuthBytes": token}
    return "broker", frames.response(AUTHENTICATE, 0, 0, content)


def exchange(mechanism: str, *tokens: tuple[bytes, bytes]) -> Script:
    """A handshake v0, then pairs of the client's token and the broker's."""
    script: list[tuple[Side, bytes]] = [("client", asks(mechanism)), ("broker", answers(mechanism))]
    for said, heard in tokens:
        script += [("client", framed(said)), hears(heard)]
    return script


EXCHANGES = {
    "PLAIN": [(PLAIN, b"")],
    "SCRAM-SHA-256": [(CLIENT_FIRST, SERVER_FIRST), (CLIENT_FINAL, SERVER_FINAL)],
    "OAUTHBEARER": [(b"n,,\x01auth=Bearer e30.eyJzdWIiOiJhbGljZSJ9.\x01\x01", b"")],
    "GSSAPI": [(b"\x60\x82 initial", b"reply"), (b"", b"offer"), (b"choice", b"")],
}


@pytest.mark.parametrize("mechanism", EXCHANGES)
def test_an_exchange(mechanism: str) -> None:
    """The broker gets v1 and SaslAuthenticate, the client bare tokens; requests come behind the last one."""
    tokens = EXCHANGES[mechanism]
    relay = play([*exchange(mechanism, *tokens), ("client", PING), ("broker", PONG)])
    silent = mechanism == "GSSAPI"  # a broker does not answer its last token
    to_broker = asks(mechanism, 1) + b"".join(wrapped(said) for said, _ in tokens) + PING
    heard = [framed(token) for _, token in tokens[: -1 if silent else None]]
    to_client = answers(mechanism) + b"".join(heard) + PONG
    assert (relay.reason, bytes(relay.broker.data), bytes(relay.client.data)) == (None, to_broker, to_client)
    assert relay.context.principal == (None if silent else "User:alice")
    assert relay.requests.count == relay.responses.count == len(tokens) + 2
    assert (relay.context.unframed, relay.context.find(Exchanges), relay.errors()) == (None, None, {})


SHAKEN = frames.response(HANDSHAKE, 1, 0, {"Mechanisms": ["GSSAPI"]})
CUTS = pytest.mark.parametrize("cut", [whole, by(1), by(3), by(50)], ids=["whole", "1", "3", "50"])


@CUTS
def test_kerberos_without_a_handshake(cut: Cut) -> None:
    """A client may begin with a token, as to Kafka 0.9: the broker gets a handshake of kproxy's before it."""
    first, *others = EXCHANGES["GSSAPI"]
    relay = Relay().play([("client", framed(first[0]))], cut)
    shaken = frames.request(HANDSHAKE, 1, 0, {"Mechanism": "GSSAPI"}, None)
    assert bytes(relay.broker.data) == shaken
    relay.play([("broker", SHAKEN), hears(first[1])], cut)
    for said, heard in others:
        relay.play([("client", framed(said)), hears(heard)], cut)
    relay.play([("client", PING), ("broker", PONG)], cut)
    asked = [frames.request(AUTHENTICATE, 0, 0, {"AuthBytes": said}, None) for said, _ in EXCHANGES["GSSAPI"]]
    assert bytes(relay.broker.data) == shaken + b"".join(asked) + PING
    assert bytes(relay.client.data) == framed(b"reply") + framed(b"offer") + PONG
    assert (relay.reason, relay.context.unframed, relay.context.find(Exchanges)) == (None, None, None)
    assert relay.requests.count == relay.responses.count == 4
    assert relay.context.client_id == "c1", "as its first request says"


def test_a_request_at_once_behind_the_last_token() -> None:
    """To that a broker says nothing, so a client may go on without waiting."""
    *before, last = EXCHANGES["GSSAPI"]
    script: list[tuple[Side, bytes]] = [("client", framed(before[0][0])), ("broker", SHAKEN), hears(before[0][1])]
    script += [("client", framed(before[1][0])), hears(before[1][1]), ("client", framed(last[0]) + PING + PING)]
    relay = play([*script, hears(), ("broker", PONG), ("broker", PONG)])
    assert (relay.reason, relay.context.client_id) == (None, "c1")
    assert bytes(relay.broker.data).endswith(PING + PING)
    assert bytes(relay.client.data).endswith(PONG + PONG)


@pytest.mark.parametrize(("error", "offered", "told"), [(33, ["PLAIN", "SCRAM"], "PLAIN, SCRAM"), (34, [], "no mech")])
def test_kerberos_that_the_broker_does_not_offer(error: int, offered: list[str], told: str) -> None:
    """The token goes nowhere, and the connection ends, as at a broker: its log has what that offers."""
    refusal = frames.response(HANDSHAKE, 1, 0, {"ErrorCode": error, "Mechanisms": offered})
    relay = play([("client", framed(b"\x60\x82 initial") + PING), ("broker", refusal)])
    assert (relay.reason, bytes(relay.client.data)) == (Reason.BROKER_CLOSED, b"")
    assert bytes(relay.broker.data) == frames.request(HANDSHAKE, 1, 0, {"Mechanism": "GSSAPI"}, None)
    assert relay.detail.startswith("the client begins with a Kerberos token; the broker offers " + told)


def test_what_only_looks_like_a_kerberos_token() -> None:
    """Behind a request it is none; and no more of one is held than of a client's first request."""
    assert play([("client", PING + framed(b"\x60\x82 initial"))]).reason is Reason.UNKNOWN_API
    assert play([("client", b"\x16\x03\x01\x02\x60" + bytes(64))]).reason is Reason.TLS_ON_PLAINTEXT
    large = (FIRST_HELD + 1).to_bytes(4) + b"\x60"
    relay = play([("client", large)])
    assert (relay.reason, relay.requests.held_bytes) == (Reason.FRAME_TOO_LARGE, 0)


def test_the_name_is_believed_when_the_broker_has_accepted_it() -> None:
    """Not before the last answer."""
    relay = play([*exchange("SCRAM-SHA-256", (CLIENT_FIRST, SERVER_FIRST)), ("client", framed(CLIENT_FINAL))])
    assert relay.context.principal is None
    relay.feed(*hears(SERVER_FINAL))
    assert relay.context.principal == "User:alice"


@CUTS
def test_a_client_that_does_not_wait(cut: Cut) -> None:
    """What it sends at once is taken in its turn: tokens, and then requests."""
    at_once = asks("PLAIN") + framed(PLAIN) + PING
    relay = Relay().play([("client", at_once)], cut)
    assert bytes(relay.broker.data) == asks("PLAIN", 1)
    relay.play([("broker", answers("PLAIN"))], cut)
    assert bytes(relay.broker.data) == asks("PLAIN", 1) + wrapped(PLAIN)
    relay.play([hears(), ("broker", PONG)], cut)
    assert (relay.reason, bytes(relay.client.data)) == (None, answers("PLAIN") + framed(b"") + PONG)


def test_a_refused_token_ends_the_connection() -> None:
    """As at a broker, which says nothing there; the error is counted, and what had been promised before is sent."""
    relay = play([*exchange("PLAIN"), ("client", framed(PLAIN)), hears(error=FAILED)])
    assert (relay.reason, bytes(relay.client.data)) == (Reason.BROKER_CLOSED, answers("PLAIN"))
    assert (relay.context.principal, relay.errors()) == (None, {(AUTHENTICATE, 0): {FAILED: 1}})
    assert "58" in relay.detail


def test_a_refused_bearer_goes_on_as_the_broker_says() -> None:
    """RFC 7628: the refusal is a token that is not empty; the client's next one is for the end."""
    refusal = b'{"status":"invalid_token"}'
    relay = play([*exchange("OAUTHBEARER", (b"n,,\x01auth=Bearer x\x01\x01", refusal)), ("client", framed(b"\x01"))])
    assert bytes(relay.broker.data).endswith(wrapped(b"\x01"))
    relay.feed(*hears(error=FAILED))
    assert (relay.reason, relay.context.principal) == (Reason.BROKER_CLOSED, None)


def test_a_broker_that_does_not_authenticate() -> None:
    """It says so (34), and goes on with requests; the error is counted at the version that the client sent."""
    relay = play([("client", asks("PLAIN") + PING), ("broker", answers("PLAIN", 34)), ("broker", PONG)])
    assert bytes(relay.broker.data) == asks("PLAIN", 1) + PING
    assert (relay.reason, bytes(relay.client.data)) == (None, answers("PLAIN", 34) + PONG)
    assert relay.errors() == {(HANDSHAKE, 0): {34: 1}}


def test_a_mechanism_that_the_broker_does_not_have() -> None:
    """It closes behind its answer. What the client has sent behind it is no request, but its name and password."""
    cluster = Cluster()
    cluster.listens = True
    relay = Relay(cluster).play([("client", asks("PLAIN") + framed(b"\0a\0" + PLAIN))], whole)
    relay.feed("broker", answers("PLAIN", 33))
    assert (relay.reason, bytes(relay.client.data)) == (None, answers("PLAIN", 33))
    assert relay.errors() == {(HANDSHAKE, 0): {33: 1}}
    assert [(event.api_version, event.error) for event in cluster.reported] == [(0, "UNSUPPORTED_SASL_MECHANISM")]


def test_a_token_that_looks_like_a_request() -> None:
    """It is a token all the same, and so is a second handshake."""
    relay = play([*exchange("GSSAPI", (PING[4:], b"more")), ("client", asks("PLAIN"))])
    assert bytes(relay.broker.data) == asks("GSSAPI", 1) + wrapped(PING[4:]) + wrapped(asks("PLAIN")[4:])


@pytest.mark.parametrize(
    ("size", "reason"),
    [(-1, Reason.INVALID_FRAME_SIZE), (MAX_REQUEST + 1, Reason.FRAME_TOO_LARGE), (1 << 30, Reason.FRAME_TOO_LARGE)],
)
def test_sizes_that_no_token_has(size: int, reason: Reason) -> None:
    """Refused by the length alone."""
    relay = play([*exchange("PLAIN"), ("client", size.to_bytes(4, "big", signed=True))])
    assert (relay.reason, relay.requests.held_bytes) == (reason, 0)


def test_the_largest_token() -> None:
    """It is held until it is complete."""
    token = bytes(MAX_REQUEST)
    relay = Relay(earlier=1).play([*exchange("GSSAPI"), ("client", framed(token))], by(100_000))
    assert (relay.reason, bytes(relay.broker.data)) == (None, asks("GSSAPI", 1) + wrapped(token))


@pytest.mark.parametrize("rest", [b"", b"\xff\xff", b"\xff\xff\0\5PLAI"])
def test_a_malformed_handshake_is_the_brokers_to_refuse(rest: bytes) -> None:
    """It goes on as v1, as it came."""
    relay = play([("client", frames.raw_request(HANDSHAKE, 0, 5, rest))])
    assert (relay.reason, bytes(relay.broker.data)) == (None, frames.raw_request(HANDSHAKE, 1, 5, rest))


@pytest.mark.parametrize("answer", [b"", b"\0", b"\0\0\0"])
def test_a_broker_that_answers_nonsense(answer: bytes) -> None:
    """It is the broker's fault, in the handshake and behind it."""
    relay = play([("client", asks("PLAIN")), ("broker", frames.raw_response(HANDSHAKE, 1, 5, answer))])
    assert relay.reason is Reason.MALFORMED_RESPONSE
    nonsense = frames.raw_response(AUTHENTICATE, 0, 0, answer)
    relay = play([*exchange("PLAIN"), ("client", framed(PLAIN)), ("broker", nonsense)])
    assert relay.reason is Reason.MALFORMED_RESPONSE


def test_another_exchange_by_v1_behind_one_by_v0() -> None:
    """The client's requests have headers again."""
    later = frames.request(HANDSHAKE, 1, 8, {"Mechanism": "PLAIN"}) + frames.request(
        AUTHENTICATE, 0, 9, {"AuthBytes": b"\0bob\0x"}
    )
    relay = play([*exchange("PLAIN", (PLAIN, b"")), ("client", later)])
    relay.play(
        [
            ("broker", frames.response(HANDSHAKE, 1, 8, {"Mechanisms": ["PLAIN"]})),
            ("broker", frames.response(AUTHENTICATE, 0, 9)),
        ],
        whole,
    )
    assert (relay.reason, relay.context.principal) == (None, "User:bob")
    assert bytes(relay.broker.data).endswith(later)


def test_a_new_epoch_in_the_middle() -> None:
    """The exchange goes on with the broker that began it; what comes behind it is told of the epoch as ever."""
    begun = exchange("SCRAM-SHA-256", (CLIENT_FIRST, SERVER_FIRST))
    relay = Relay().play([*begun, ("epoch", b""), ("client", framed(CLIENT_FINAL)), hears(SERVER_FINAL)], whole)
    assert (relay.reason, relay.context.principal, relay.context.unframed) == (None, "User:alice", None)
