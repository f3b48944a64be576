"""Attacks by client telemetry: small requests that are large once they are decompressed, decoded or kept."""

from __future__ import annotations

import gzip
import os
import socket
from collections import Counter
from collections.abc import Sequence
from typing import Final

import cramjam

from tests.support.raw import api_versions

from . import otlp
from .attack import Attack, Steps, Target, converse, numbered

_PATIENCE: Final = 60
_EVERY_SERIES: Final = 500_000
_INSTANCES: Final = 50_000
_OTLP: Final = {
    "receivers": [
        {"name": "scrape", "type": "prometheus"},
        {"name": "collector", "type": "otlp", "url": "http://127.0.0.1:9/v1/metrics"},
    ]
}
"""A second receiver, which adds labels to each resource; nothing listens there."""


def _begin(target: Target) -> tuple[socket.socket, otlp.Ids]:
    """Return a connection on which one honest client asked for its subscription."""
    connection = target.connect()
    asked = numbered([api_versions(0), otlp.get()])
    return connection, otlp.Ids(converse(connection, asked, 2, _PATIENCE)[1])


def _pushed(target: Target, payloads: Sequence[bytes], codec: int = otlp.ZSTD) -> Steps:
    """Push compressed payloads pipelined on one connection, each as another instance, and wait for the answers."""
    connection, ids = _begin(target)
    pushes = numbered(otlp.push(*ids.fresh(), payload, codec) for payload in payloads)
    yield
    target.facts["pushes"] = _by_error(converse(connection, pushes, len(payloads), target.seconds))


def _by_error(found: Sequence[bytes]) -> str:
    """Return how many pushes were answered with which error code."""
    codes = Counter(otlp.pushed(answer) for answer in found)
    return ", ".join(f"{count} × {code}" for code, count in sorted(codes.items())) or "none answered"


def empty_attributes(target: Target) -> Steps:
    """12 pushes of a data point with 510,000 empty attributes."""
    points = [otlp.point(1.0) + b"\x3a\x00" * 510_000 for _ in range(12)]
    payloads = [otlp.zstd(otlp.metrics_data(otlp.gauge(f"attack.{number}", one))) for number, one in enumerate(points)]
    return _pushed(target, payloads)


def pipelined_pushes(target: Target) -> Steps:
    """950 pushes of about 99 bytes on one connection, each a mebibyte of empty messages."""
    return _pushed(target, [otlp.zstd(b"\x0a\x00" * (otlp.MAX_BYTES // 2))] * 950)


def client_id_attributes(target: Target) -> Steps:
    """Four pushes of 24,000 client_id attributes among 367,000 empty ones, to a receiver that removes them."""
    named = otlp.field(1, otlp.field(1, b"client_id"))  # a key without a value
    resource = (b"\x0a\x00" * 15 + named) * 24_000
    payload = otlp.metrics_data(otlp.gauge("attack", otlp.point(1.0)), resource=resource)
    assert len(payload) <= otlp.MAX_BYTES, len(payload)
    return _pushed(target, [otlp.zstd(payload)] * 4)


def series_pushes(count: int = _EVERY_SERIES) -> list[bytes]:
    """Return compressed pushes that together have so many series, each push as many as it may."""
    payloads, points, size = [], list[bytes](), 0
    for number in range(count):
        one = otlp.point(1.0, otlp.key_value("a", f"{number:x}"))
        if size + len(one) + 100 > otlp.MAX_BYTES - 8 * len(points):
            payloads.append(otlp.zstd(otlp.metrics_data(otlp.gauge("attack", *points))))
            points, size = [], 0
        points.append(one)
        size += len(one)
    return [*payloads, otlp.zstd(otlp.metrics_data(otlp.gauge("attack", *points)))]


def all_series(target: Target) -> Steps:
    """One connection that pushes 500,000 series."""
    return _pushed(target, series_pushes())


def many_buckets(target: Target) -> Steps:
    """20 pushes of histograms with 58,000 buckets each."""
    buckets = otlp.field(6, bytes(8 * 58_000)) + otlp.field(7, bytes(8 * 58_000))
    histogram = otlp.field(9, otlp.field(1, buckets) + otlp.field(2, 1))
    return _pushed(
        target, [otlp.zstd(otlp.metrics_data(otlp.field(1, b"attack.%d" % n) + histogram)) for n in range(20)]
    )


def nested_values(target: Target) -> Steps:
    """20 pushes of attributes that are lists in lists, as deep as protobuf reads them, thousands of them."""
    value = b""
    for _ in range(40):
        value = otlp.field(5, otlp.field(1, value))
    attribute = otlp.field(1, b"deep") + otlp.field(2, value)
    points = [otlp.point(1.0, attribute)] * (900_000 // len(otlp.point(1.0, attribute)))
    return _pushed(target, [otlp.zstd(otlp.metrics_data(otlp.gauge("attack", *points)))] * 20)


def fresh_instances(target: Target) -> Steps:
    """50,000 requests for subscriptions pipelined on one connection, each as another instance."""
    connection, _ = _begin(target)
    asked = numbered(otlp.get(os.urandom(16)) for _ in range(_INSTANCES))
    yield
    target.facts["answered"] = str(len(converse(connection, asked, _INSTANCES, target.seconds)))


def bombs(codec: int) -> list[bytes]:
    """Return small bytes that inflate to 64 MiB, or that take long, in one codec."""
    zeros = bytes(64 << 20)
    if codec == otlp.GZIP:
        return [gzip.compress(zeros), gzip.compress(b"") * 5_000]
    if codec == otlp.SNAPPY:
        xerial = b"\x82SNAPPY\0" + bytes([0, 0, 0, 1, 0, 0, 0, 1])
        small = bytes(cramjam.snappy.compress_raw(b"x"))
        return [bytes(cramjam.snappy.compress_raw(zeros))[: 512 << 10], xerial + (b"\0\0\0\x03" + small) * 100_000]
    if codec == otlp.LZ4:
        return [bytes(cramjam.lz4.compress(zeros)), bytes(cramjam.lz4.compress(b"")) * 5_000]
    return [otlp.zstd(zeros), otlp.zstd(b"") * 20_000]


def codec_bombs(target: Target) -> Steps:
    """20 bombs of each codec, pipelined on one connection."""
    connection, ids = _begin(target)
    made = [(codec, bomb) for codec in (otlp.GZIP, otlp.SNAPPY, otlp.LZ4, otlp.ZSTD) for bomb in bombs(codec)]
    pushes = [otlp.push(*ids.fresh(), bomb, codec) for codec, bomb in made for _ in range(10)]
    yield
    target.facts["pushes"] = _by_error(converse(connection, numbered(pushes), len(pushes), target.seconds))


ATTACKS: Final = (
    Attack("empty-attributes", 1, "12 pushes of 510,000 empty attributes each", empty_attributes, 20),
    Attack("pipelined-pushes", 2, "950 pushes of 1 MiB (130 bytes on the wire), pipelined", pipelined_pushes, 60),
    Attack("client-id-attributes", 3, "4 pushes of 24,000 client_id attributes", client_id_attributes, 30, _OTLP),
    Attack("all-series", 4, "one connection pushes 500,000 series", all_series, 30),
    Attack("many-buckets", None, "20 pushes of 58,000 buckets", many_buckets, 20),
    Attack("nested-values", None, "20 pushes of values nested 40 deep", nested_values, 20),
    Attack("fresh-instances", None, "50,000 instances on one connection", fresh_instances, 10),
    Attack("codec-bombs", None, "80 pushes that inflate to 64 MiB, or are of 5,000 frames", codec_bombs, 30),
)
