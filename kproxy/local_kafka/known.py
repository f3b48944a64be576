"""Which brokers a node knows: it may say that it has started before it has read who is in its cluster."""

from __future__ import annotations

import socket
import struct
from typing import Final

_SECONDS: Final = 5
_METADATA_V1: Final = struct.pack(">ihhihi", 14, 3, 1, 0, -1, 0)
"""A request for no topic, in a frame: its head without a client id, and an empty array."""


def known_brokers(host: str, port: int) -> frozenset[int]:
    """Return the node ids in the node's answer to Metadata; none while it does not answer."""
    try:
        with socket.create_connection((host, port), _SECONDS) as client, client.makefile("rb") as answer:
            client.sendall(_METADATA_V1)
            (size,) = struct.unpack(">i", answer.read(4))
            return _node_ids(answer.read(size))
    except (OSError, struct.error):
        return frozenset()


def _node_ids(response: bytes) -> frozenset[int]:
    """Return the ids of the brokers, each of which is its id, host, port and rack."""
    (count,), pos, found = struct.unpack_from(">4xi", response), 8, set()
    for _ in range(count):
        node_id, host = struct.unpack_from(">ih", response, pos)
        pos += 6 + host + 4
        (rack,) = struct.unpack_from(">h", response, pos)
        pos += 2 + max(rack, 0)
        found.add(node_id)
    return frozenset(found)
