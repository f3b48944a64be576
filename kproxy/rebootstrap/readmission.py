# This module is pure.
"""Members of the newer groups (KIP-848, KIP-932, KIP-1071) at a cluster that has never heard of their group.

After a switch their heartbeat comes to a broker that answers GROUP_ID_NOT_FOUND (69). They stop for good then, Java's
and librdkafka's: a group that has members cannot be gone, as they see it. UNKNOWN_MEMBER_ID (25), which is as true, has
them join again; that founds the group. Before the first epoch ends nothing is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import Final

from kproxy.errors import GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID
from kproxy.protocol.api_table import Chunk, Respond, Route
from kproxy.protocol.context import Context
from kproxy.protocol.reading import well_formed
from kproxy.wire.header import decode_response_header
from kproxy.wire.skim import error_offset

_CODE: Final = Struct(">h")
_UNKNOWN: Final = _CODE.pack(UNKNOWN_MEMBER_ID)


def readmit(route: Route) -> Respond:
    """Have a member join again whose group is not there."""
    key, version = route.api_key, route.version
    offset = error_offset(key, version)
    assert offset is not None, f"api {key} v{version} has no error code at a fixed place"

    def respond(context: Context, frame: memoryview) -> Sequence[Chunk] | None:
        _, body = decode_response_header(frame, 0, len(frame), key, version)
        at = body + offset
        with well_formed("heartbeat response"):
            (code,) = _CODE.unpack_from(frame, at)
        if code:
            route.counters.count_error(code)
        if code != GROUP_ID_NOT_FOUND or not context.cluster.epoch:
            return None
        return [frame[:at], _UNKNOWN, frame[at + len(_UNKNOWN) :]]

    return respond
