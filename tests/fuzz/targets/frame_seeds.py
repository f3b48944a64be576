"""Valid dialogues of a client and a broker, from Kafka's schemas: each API in each version, and some in a row."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from uuid import UUID

from kproxy.wire.apis import APIS, response_header_version
from kproxy.wire.generated.push_telemetry_request import PushTelemetryRequest
from kproxy.wire.header import RequestHeader, encode_request_header
from tests.fuzz.script import Script
from tests.fuzz.targets.push_seeds import payloads
from tests.property.random_contents import random_content
from tests.property.wire_contents import RESPONSES, encode_message
from tests.property.wire_messages import SCHEMAS
from tests.support.batches import batch
from tests.unit.relay import frames

_REQUESTS = {message.api_key: message for message in SCHEMAS.of_kind("request") if message.api_key is not None}
_CLIENT, _REQUEST, _BROKER, _REPLY, _EPOCH, _STEP, _KEPT = range(7)
_SERVED = [(key, version) for key in sorted(APIS) if APIS[key].broker for version in frames.versions(key)]
_STRANGERS = (
    b"PROXY TCP4 192.0.2.1 192.0.2.2 40000 9092\r\n",
    b"PROXY UNKNOWN\r\n",
    b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\2\1\xc0\0\2\2\x9c\x40\x23\x84",
    b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0",
    b"GET /metrics HTTP/1.1\r\nHost: kproxy\r\n\r\n",
    b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + bytes(64),
    b"SSH-2.0-OpenSSH_9.6\r\n",
)
"""What others than Kafka's clients send first: the PROXY protocol of both versions, HTTP, TLS, SSH."""


def seeds() -> list[bytes]:
    """Return the same dialogues at every call."""
    rng = Random(1)
    found = [_exchange([where], rng, number) for number, where in enumerate(_SERVED)]
    found += [_exchange(rng.sample(_SERVED, 4), rng, number) for number in range(60)]
    found += [Script.of([(_CLIENT, data)]).encode() for data in _STRANGERS]
    return [*found, *_pushed(), *_produced(), *_reset_by_an_epoch(rng)]


def _exchange(apis: list[tuple[int, int]], rng: Random, number: int) -> bytes:
    steps: list[tuple[int, bytes]] = [(_REQUEST, _request(*api, number + at, rng)) for at, api in enumerate(apis)]
    for api in apis:
        steps += [(_STEP, b""), (_REPLY, _reply(*api, rng))]
    return Script.of(steps, bytes([number % 4 | number & 24, number % 7 * (number % 3 == 0), number % 21])).encode()


def _request(key: int, version: int, correlation_id: int, rng: Random) -> bytes:
    message = _REQUESTS[key]
    header = encode_request_header(RequestHeader(key, version, correlation_id, "fuzzer"))
    return header + encode_message(message, version, random_content(message.struct, version, rng))


def _reply(key: int, version: int, rng: Random) -> bytes:
    message = RESPONSES[key]
    tags = b"\0" * response_header_version(key, version)
    return tags + encode_message(message, version, random_content(message.struct, version, rng))


def _pushed() -> Iterator[bytes]:
    header = encode_request_header(RequestHeader(72, 0, 1, "fuzzer"))
    for number, (codec, payload) in enumerate(payloads()):
        request = PushTelemetryRequest(
            client_instance_id=UUID(int=99), subscription_id=0, compression_type=codec, metrics=payload
        )
        subscribed = encode_request_header(RequestHeader(71, 0, 0, "fuzzer")) + UUID(int=99).bytes + b"\0"
        steps = [(_REQUEST, subscribed), (_STEP, b""), (_STEP, b""), *[(_REQUEST, header + request.encode(0))] * 2]
        yield Script.of([*steps, (_STEP, b""), (_STEP, b"")], bytes([0, 0, number])).encode()


def _produced() -> Iterator[bytes]:
    for version in frames.versions(0, low=3):
        for producer_id in (-1, 7, 1 << 62 | 5 << 42 | 3):
            records = batch(producer_id, [b"value"] * 3, epoch=0, sequence=4)
            asked = frames.produce(version, 5, records=records, transactional_id="t" if version % 2 else None)
            steps = [(_CLIENT, asked), (_REPLY, frames.produced(version, 5)[8:])] * 2
            yield Script.of(steps, bytes([version % 4, 0, version])).encode()


def _reset_by_an_epoch(rng: Random) -> Iterator[bytes]:
    for number, (key, version) in enumerate(_SERVED):
        if key in {3, 8, 9, 10, 11, 12, 13, 14, 18, 68, 76, 88}:
            asked = (_REQUEST, _request(key, version, 1, rng))
            again = (_REQUEST, _request(key, version, 2, rng))
            steps = [asked, (_EPOCH, b""), (_REPLY, _reply(key, version, rng)), again]
            yield Script.of(steps, bytes([number % 4, number % 7, number % 256])).encode()
