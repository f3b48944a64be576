"""SASL through the relay for any bytes: they pass, and kproxy believes only what a broker accepted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kproxy.relay.apis.sasl import MECHANISMS, Exchanges, Mechanism
from kproxy.wire.primitives import frame as framed
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, by

_BYTES = st.one_of(
    st.binary(max_size=80),
    st.lists(
        st.sampled_from(
            [b"n,", b",", b"a=", b"n=", b"r=x", b"=2C", b"=3D", b"\0", b"\x01", b"auth=Bearer ", b".", b"e30", b"x"]
        ),
        max_size=12,
    ).map(b"".join),
)
_NAMES = st.text(min_size=1, max_size=40).filter(lambda name: "\0" not in name and name.isprintable())
_MECHANISMS = st.sampled_from([*MECHANISMS, "GSSAPI", "?"])
_STEPS = st.integers(1, 200)
PING, PONG = frames.heartbeat(7)


@given(st.sampled_from(list(MECHANISMS.values())), _BYTES)
def test_any_message_has_a_name_or_none(mechanism: Mechanism, message: bytes) -> None:
    """No exception is raised, and a name is text of a bounded length."""
    name = mechanism.name(message)
    assert name is None or 0 < len(name.encode()) <= 255


@given(st.lists(st.tuples(_MECHANISMS, st.one_of(st.none(), _BYTES))), st.lists(st.one_of(st.none(), _BYTES)))
def test_any_exchange(said: list[tuple[str, bytes | None]], heard: list[bytes | None]) -> None:
    """A refused exchange gives no name, and neither does one that is not answered yet."""
    exchanges = Exchanges()
    for mechanism, message in said:
        exchanges.begin(mechanism)
        exchanges.say(message)
    for challenge in heard[: len(said)]:
        name = exchanges.hear(challenge)
        assert name is None or challenge is not None


@given(_NAMES)
def test_escaped_names_are_read_back(name: str) -> None:
    """RFC 5802 escapes commas and equals signs."""
    escaped = name.replace("=", "=3D").replace(",", "=2C").encode()
    assert MECHANISMS["SCRAM-SHA-256"].name(b"n,,n=" + escaped + b",r=abc") == name
    assert MECHANISMS["PLAIN"].name(b"\0" + name.encode() + b"\0secret") == name


@given(
    st.integers(0, 2),
    _MECHANISMS,
    st.lists(st.tuples(_BYTES, _BYTES, st.booleans()), max_size=4),
    st.booleans(),
    _STEPS,
)
def test_any_bytes_pass(
    version: int, mechanism: str, exchange: list[tuple[bytes, bytes, bool]], raw: bool, step: int
) -> None:
    """Requests and responses with any content, cut anywhere: the same bytes on the other side, and no error."""
    requests = [frames.request(17, 1, 0, {"Mechanism": mechanism})]
    responses = [frames.response(17, 1, 0, {"Mechanisms": [mechanism]})]
    for number, (message, challenge, refused) in enumerate(exchange, 1):
        content = {"ErrorCode": 58 if refused else 0, "AuthBytes": challenge}
        requests.append(
            frames.raw_request(36, version, number, message)
            if raw
            else frames.request(36, version, number, {"AuthBytes": message})
        )
        responses.append(
            frames.raw_response(36, version, number, challenge)
            if raw
            else frames.response(36, version, number, content)
        )
    relay = Relay()
    relay.play([("client", b"".join(requests)), ("broker", b"".join(responses))], by(step))
    passed = (bytes(relay.broker.data), bytes(relay.client.data))
    assert (relay.reason, *passed) == (None, b"".join(requests), b"".join(responses))
    assert relay.context.principal is None or relay.context.principal.startswith("User:")


@given(st.lists(st.tuples(_BYTES, st.binary(min_size=1, max_size=80)), max_size=4), _BYTES, st.booleans(), _STEPS)
def test_any_token_passes_without_a_header(
    exchange: list[tuple[bytes, bytes]], last: bytes, at_once: bool, step: int
) -> None:
    """Behind SaslHandshake v0, until the broker's is empty; whether or not the client waits, and however it is cut."""
    tokens = [*exchange, (last, b"")]
    said = [frames.request(17, 0, 5, {"Mechanism": "GSSAPI"}), *(framed(token) for token, _ in tokens), PING]
    heard = [frames.response(17, 0, 5, {"Mechanisms": ["GSSAPI"]})]
    heard += [frames.response(36, 0, 0, {"AuthBytes": token}) for _, token in tokens]
    relay = Relay()
    if at_once:
        relay.play([("client", b"".join(said))], by(step))
    for token, answer in zip(said, [*heard, PONG], strict=True):
        relay.play([("client", b"" if at_once else token), ("broker", answer)], by(step))
    asked = [frames.request(36, 0, 0, {"AuthBytes": token}) for token, _ in tokens]
    to_broker = b"".join([frames.request(17, 1, 5, {"Mechanism": "GSSAPI"}), *asked, PING])
    to_client = heard[0] + b"".join(framed(token) for _, token in exchange) + PONG  # a broker ends in silence
    assert (relay.reason, bytes(relay.broker.data), bytes(relay.client.data)) == (None, to_broker, to_client)
