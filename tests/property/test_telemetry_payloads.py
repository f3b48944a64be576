"""Payloads that no well-behaved client pushes: only the intended outcomes, in bounded memory and time."""

from __future__ import annotations

import random
import resource
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from kproxy.telemetry.compression import decompress
from kproxy.telemetry.errors import PayloadError
from kproxy.telemetry.payload import decode, parts
from tests.support.bounds import Bounds
from tests.unit.telemetry.clients import JAVA, NOW, metrics, pushed, request, telemetry, wide
from tests.unit.telemetry.compressed import COMPRESS, XERIAL_HEADER

MAX_BYTES = 1 << 20
MEANT = {0, 76, 87, 118}
FUZZED = 30_000
INFLATED = 200_000_000

# A frame's header that states a size of 2**60 and one that wants a window of 128 MiB; a block that says it is 4 GiB.
LIES = {
    "zstd size": (4, b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 60) + b"\x01\0\0"),
    "zstd window": (4, b"\x28\xb5\x2f\xfd\0" + bytes([17 << 3]) + b"\x0b\0\0a" * 100),
    "snappy size": (2, b"\xff\xff\xff\xff\x0f" + b"\0" * 100),
    "snappy size within the limit": (2, b"\xff\xff\x3f" + b"\0" * 100),
    "xerial block": (2, XERIAL_HEADER + b"\x7f\xff\xff\xff" + b"\0" * 100),
    "xerial of one-byte blocks": (2, XERIAL_HEADER + b"\0\0\0\x03\x01\0a" * 149_000),
    "gzip of empty members": (1, COMPRESS["gzip"][1](b"") * 52_000),
    "lz4 of empty frames": (3, COMPRESS["lz4"][1](b"") * 69_000),
    "zstd of empty frames": (4, COMPRESS["zstd"][1](b"") * 80_000),
    "zstd of skippable frames": (4, b"\x50\x2a\x4d\x18\0\0\0\0" * (MAX_BYTES // 8)),
    "protobuf of empty messages": (0, b"\x0a\0" * (MAX_BYTES // 2)),
    "protobuf of empty messages in messages": (0, b"\x0a\x04\x12\x02\x12\0" * (MAX_BYTES // 6)),
}


def mutated(body: bytes, rng: random.Random) -> bytes:
    """Cut, repeated, changed, spliced with noise, or nothing but noise."""
    at, kind = rng.randrange(len(body) + 1), rng.randrange(5)
    if kind == 0:
        return body[:at]
    if kind == 1:
        return body + body[:at]
    if kind == 2:
        return body[:at] + rng.randbytes(rng.randrange(1, 9)) + body[at + rng.randrange(9) :]
    if kind == 3:
        return rng.randbytes(rng.randrange(60))
    changed = bytearray(body)
    for _ in range(rng.randrange(1, 4)):
        changed[rng.randrange(len(body))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.getrandbits(8)])
    return bytes(changed)


def fuzzed(seed: int) -> Iterator[tuple[int, bytes]]:
    rng = random.Random(seed)
    bodies = [
        (number, compress(payload)) for number, compress in COMPRESS.values() for payload in (metrics(3), b"x" * 5000)
    ]
    for _ in range(FUZZED // 3):
        codec, body = rng.choice(bodies)
        yield codec if rng.random() < 0.95 else rng.randrange(-128, 128), mutated(body, rng)


@pytest.mark.parametrize("seed", range(3))
def test_fuzzed_payloads_raise_nothing_but_what_is_meant(seed: int) -> None:
    """Whatever the bytes: a payload within the limit, or a PayloadError of 76, 87 or 118. Most are broken, not all."""
    limit = 4096
    outcomes: Counter[int] = Counter()
    for codec, body in fuzzed(seed):
        try:
            payload = decompress(codec, body, limit)
            assert len(payload) <= limit
            decode(payload)
            outcomes[0] += 1
        except PayloadError as error:
            outcomes[error.code] += 1
    assert set(outcomes) == MEANT
    assert all(count > 100 for count in outcomes.values())


def test_fuzzed_pushes_get_an_answer() -> None:
    """Through all checks: every push gets an answer, and the service takes the next one."""
    server = telemetry()
    codes = {
        pushed(server, NOW + 10 * number, codec=codec, payload=body) for number, (codec, body) in enumerate(fuzzed(9))
    }
    assert codes == MEANT
    assert pushed(server, NOW + 10 * FUZZED) == 0


def plainly(codec: int, body: bytes) -> int:
    """Return the error code of a payload by itself, or 0."""
    try:
        decode(decompress(codec, body, MAX_BYTES))
    except PayloadError as error:
        return error.code
    return 0


@pytest.mark.parametrize("seed", range(3))
def test_a_push_like_the_last_ones_gets_the_verdict_of_any(seed: int) -> None:
    """What kproxy knows of a client's payloads lets pass nothing but MetricsData, and refuses none that is."""
    rng = random.Random(seed)
    server, usual = telemetry(), metrics(3)
    now = NOW
    for _ in range(FUZZED // 10):
        for body in (usual, usual, flipped(usual, rng), mutated(usual, rng)):
            now += 10
            assert pushed(server, now, payload=body) == (plainly(0, body) if body else 0)


@pytest.mark.parametrize("seed", range(3))
def test_a_wide_push_gets_the_verdict_of_the_whole(seed: int) -> None:
    """Checked part by part, it passes where protobuf takes all of it at once, and its parts are what it was."""
    rng = random.Random(seed)
    server, usual = telemetry(), wide(80)
    outcomes: Counter[int] = Counter()
    for number in range(FUZZED // 60):
        body = rng.choice([mutated, flipped])(usual, rng) + usual
        answer, push = server.push(JAVA, request(server, payload=body), NOW + 10 * number)
        assert answer.error_code == plainly(0, body)
        outcomes[answer.error_code] += 1
        if push is not None:
            assert b"".join(parts(push.payload)) == body
            assert sum(len(part.resource_metrics) for part in push.parts()) == len(push.metrics.resource_metrics)
    assert all(outcomes[code] > 50 for code in (0, 87))


def flipped(body: bytes, rng: random.Random) -> bytes:
    """Change a byte or two, in a payload of the same size."""
    changed = bytearray(body)
    for _ in range(rng.randrange(1, 3)):
        changed[rng.randrange(len(body))] = rng.getrandbits(8)
    return bytes(changed)


def long_to_look_through() -> Iterator[bytes]:
    """Payloads of many crumbs: sent twice, their layout is looked for."""
    crumbs, fields = b"\x0a\0" * (1 << 14), b"\x08\1" * (1 << 14)
    yield from (crumbs, fields, b"\x0a\x04\x12\x02\x12\0" * 5_000, 32 * crumbs)


def in_a_process_of_its_own(measure: str) -> list[float]:
    """Seconds of CPU that the named function measures, where neither coverage nor other tests' garbage counts."""
    code = f"from tests.property.test_telemetry_payloads import {measure}\nfor spent in {measure}(): print(spent)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return [float(line) for line in ran.stdout.split()]


def second_pushes() -> Iterator[float]:
    for body in long_to_look_through():
        server = telemetry()
        pushed(server, NOW, payload=body)
        began = time.process_time()
        pushed(server, NOW + 10, payload=body)
        yield time.process_time() - began


def lying_pushes() -> Iterator[float]:
    for codec, body in LIES.values():
        began = time.process_time()
        pushed(telemetry(), codec=codec, payload=body)
        yield time.process_time() - began


def test_payloads_that_are_long_to_look_through(bounds: Bounds) -> None:
    """A client sends the same bytes twice: at most 150 ms of CPU, as for a lie."""
    spent = in_a_process_of_its_own("second_pushes")
    assert len(spent) == len(list(long_to_look_through()))
    bounds.below(max(spent), 0.15, "seconds of CPU")


@pytest.mark.parametrize("lie", LIES)
def test_a_payload_that_lies_or_crumbles(lie: str) -> None:
    """False sizes, and endless work for nothing: an intended outcome."""
    codec, body = LIES[lie]
    assert len(body) <= MAX_BYTES
    assert pushed(telemetry(), codec=codec, payload=body) in MEANT


def test_a_lie_costs_little(bounds: Bounds) -> None:
    """Each of them: less than 150 ms of CPU."""
    spent = dict(zip(LIES, in_a_process_of_its_own("lying_pushes"), strict=True))
    bounds.below(max(spent.values()), 0.15, "seconds of CPU")


MEASURE = """
import resource, sys, time
from kproxy.telemetry.compression import decompress
from kproxy.telemetry.errors import PayloadError
codec, limit, body = int(sys.argv[1]), int(sys.argv[2]), sys.stdin.buffer.read()
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
try:
    decompress(codec, body, limit)
except PayloadError as error:
    print(error.code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, time.process_time() - began)
"""


@pytest.fixture(scope="module")
def bombs() -> dict[str, tuple[int, bytes]]:
    """200 MB of zeroes in each codec; of snappy, which compresses least, what fits into a frame."""
    zeroes = bytes(INFLATED)
    return {name: (number, compress(zeroes)) for name, (number, compress) in COMPRESS.items() if name != "none"}


@pytest.mark.parametrize("codec", [name for name in COMPRESS if name != "none"])
def test_a_bomb_is_bounded(codec: str, bombs: dict[str, tuple[int, bytes]], bounds: Bounds) -> None:
    """telemetry.md: decompression must be bounded. In a process of its own: 118, within 4 MiB and 50 ms of CPU."""
    number, body = bombs[codec]
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, str(number), str(MAX_BYTES)], input=body, capture_output=True, check=True
    ).stdout.split()
    assert int(measured[0]) == 118
    assert int(measured[1]) <= 4 * 1024  # KiB
    bounds.below(float(measured[2]), 0.05, "seconds of CPU")


def test_a_hundred_megabytes_are_not_looked_at(bounds: Bounds) -> None:
    """Compressed or not: 118 because of their length alone."""
    body = bytes(100_000_000)
    server = telemetry()
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    assert [pushed(server, NOW + 10 * codec, codec=codec, payload=body) for codec in range(5)] == [118] * 5
    bounds.below(time.process_time() - began, 0.05, "seconds of CPU")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4 * 1024
