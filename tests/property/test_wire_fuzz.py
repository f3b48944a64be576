"""Malformed bytes: 200,000 of them, the same on every run, and only one exception."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from codegen.schema import Message
from kproxy.errors import MalformedMessageError
from kproxy.wire.apis import APIS
from kproxy.wire.header import decode_request_header, decode_response_header
from kproxy.wire.skim import acks, response_skim, response_stream
from tests.property import wire_contents as contents
from tests.property.random_contents import random_content
from tests.property.wire_messages import CASES, SCHEMAS, class_of

Target = Callable[[bytes], object]

FRAMES = 200_000
ROUNDS = 8
SAMPLES = 3
_LENGTHS = [
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\x80\x80\x80\x80\x08",
    b"\xff\xff\xff\xff\x07",
    b"\xff\xff",
    b"\0",
]


def _mutated(body: bytes, rng: random.Random) -> bytes:
    """Cut short, lengthened, bytes changed, a length put where none was, or nothing but noise."""
    at = rng.randrange(len(body) + 1)
    kind = rng.randrange(6)
    if kind == 0:
        return body[:at]
    if kind == 1:
        return body + rng.randbytes(rng.randrange(1, 9))
    if kind == 2:
        return body[:at] + rng.choice(_LENGTHS) + body[at + rng.randrange(5) :]
    if kind == 3:
        return rng.randbytes(rng.randrange(60))
    changed = bytearray(body)
    for _ in range(rng.randrange(1, 4) if body else 0):
        changed[rng.randrange(len(body))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.getrandbits(8)])
    return bytes(changed)


def _codec_target(message: Message, version: int) -> Target:
    kind = class_of(message)
    # What could be decoded must be fit to be encoded: the relay sends it on.
    return lambda data: kind.decode(data, version).encode(version)


def _skim_target(key: int, version: int) -> Target:
    skim = response_skim(key, version)
    assert skim is not None
    return lambda data: skim(data, 0, len(data))


def _stream_target(key: int, version: int) -> Target:
    def walk(data: bytes) -> None:
        stream = response_stream(key, version)
        assert stream is not None
        pos = stream.feed(data, 0, len(data))
        if stream.at_tail:
            tail = stream.neutralise(data[pos:], lambda node, host, port: ("kproxy", 1))
            assert len(tail) == len(data) - pos

    return walk


def _header_targets() -> list[tuple[Target, list[bytes]]]:
    header = b"\0\x03\0\x0c\0\0\0\x07\0\x04test\x01\x05\x02ab"
    produce = b"\0\0\0\x0c\0\0\0\x07\0\x04test\x01\x05\x02ab\x02t\xff\xff\0\0\0\x01"
    return [
        (lambda data: decode_request_header(data, 0, len(data)), [header]),
        (lambda data: decode_response_header(data, 0, len(data), 3, 12), [b"\0\0\0\x07\x01\x05\x02ab"]),
        (lambda data: acks(data, 0, len(data)), [produce]),
    ]


def _targets(rng: random.Random) -> list[tuple[Target, list[bytes]]]:
    """Return each target with bodies that it takes."""
    targets = _header_targets()
    cases: list[tuple[Target, Message, int]] = [(_codec_target(*case), *case) for case in CASES]
    cases += [(_skim_target(*where), contents.RESPONSES[where[0]], where[1]) for where in contents.CARRIERS]
    cases += [(_stream_target(*where), contents.RESPONSES[where[0]], where[1]) for where in contents.STREAMED]
    for target, message, version in cases:
        samples = [random_content(message.struct, version, rng) for _ in range(SAMPLES)]
        targets.append((target, [contents.encode_message(message, version, sample) for sample in samples]))
    return targets


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_only_malformed_message_error(seed: int) -> None:
    """Whatever the bytes are: a result or the one intended exception; never another, never a hang."""
    rng = random.Random(seed)
    targets = _targets(rng)
    for target, bodies in targets:
        for body in bodies:
            target(body)
    refused = 0
    for number in range(FRAMES // ROUNDS):
        target, bodies = targets[number % len(targets)]
        try:
            target(_mutated(rng.choice(bodies), rng))
        except MalformedMessageError:
            refused += 1
    assert FRAMES // ROUNDS // 4 < refused < FRAMES // ROUNDS  # the mutations are neither all harmless nor all hopeless


def test_every_api_is_among_the_schemas() -> None:
    """The table of APIs has no key that the fuzzed schemas lack."""
    assert {message.api_key for message in SCHEMAS.of_kind("request")} == set(APIS)
