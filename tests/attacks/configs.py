"""Attacks by requests for configs, which kproxy reads whole because they can name subscriptions."""

from __future__ import annotations

import struct
from functools import partial
from typing import Final

from tests.bench.frames import framed
from tests.support.raw import api_versions, array, request, string

from .attack import Attack, Steps, Target, converse, pause
from .broker import HANG
from .otlp import varint

_SIZE: Final = (8 << 20) - 100
CLIENT_METRICS: Final = 16
DESCRIBE, ALTER, INCREMENTAL_ALTER, LIST = 32, 33, 44, 74


def resources(api_key: int, size: int = _SIZE) -> bytes:
    """A request of one of the four APIs with as many elements as `size` holds: two million resources of 4 bytes."""
    if api_key == LIST:
        return framed(LIST, 1, varint(size + 1) + bytes([CLIENT_METRICS]) * size + b"\0")
    empty, version, after = {
        DESCRIBE: (b"\x02\x01\x00\x00", 4, b"\0\0\0"),  # type, name, keys (null), tags; synonyms, documentation, tags
        ALTER: (b"\x02\x01\x01\x00", 2, b"\0\0"),  # type, name, configs (none), tags; validate only, tags
        INCREMENTAL_ALTER: (b"\x02\x01\x01\x00", 1, b"\0\0"),
    }[api_key]
    count = size // len(empty)
    return framed(api_key, version, varint(count + 1) + empty * count + after)


def many_resources(api_key: int, target: Target) -> Steps:
    """Two million resources in one request, three times, each on a connection of its own."""
    asked = resources(api_key)
    yield
    for _ in range(3):
        converse(target.connect(), api_versions(1 << 20) + asked, 2, target.seconds)


def behind_a_dialogue(target: Target) -> Steps:
    """40 connections: a question that the broker never answers, and 8 MiB behind it."""
    resource = bytes([CLIENT_METRICS]) + string("any") + struct.pack(">i", -1)
    asked = request(DESCRIBE, 1, 1, array([resource]) + b"\0", client_id=HANG)
    behind = request(LIST, 0, 2, bytes(8 << 20), client_id=HANG)
    connections = target.connect_some(40)
    yield
    for connection in connections:
        converse(connection, asked + behind, 2, 0.3)
    for left in target.lasting():
        pause(left)


ATTACKS: Final = (
    Attack("describe-configs", 5, "DescribeConfigs of 2 million resources", partial(many_resources, DESCRIBE), 20),
    Attack("alter-configs", 5, "AlterConfigs of 2 million resources", partial(many_resources, ALTER), 20),
    Attack(
        "incremental-alter", 5, "IncrementalAlterConfigs of 2 million", partial(many_resources, INCREMENTAL_ALTER), 20
    ),
    Attack("list-configs", 5, "ListConfigResources of 8 million types", partial(many_resources, LIST), 20),
    Attack("behind-a-dialogue", 6, "40 connections, 8 MiB behind an unanswered question", behind_a_dialogue, 20),
)
