"""Members of groups that speak the protocol themselves: thousands of them in one process."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

import trio

from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kproxy.wire.generated.join_group_response import JoinGroupResponse
from kproxy.wire.generated.sync_group_request import SyncGroupRequest, SyncGroupRequestAssignment
from kproxy.wire.generated.sync_group_response import SyncGroupResponse
from kproxy.wire.header import RequestHeader, decode_response_header, encode_request_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame

_NOT_YET: Final = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)
_SESSION_MS: Final = 1_800_000
"""A group may rest for several blocks of the others before its heartbeats go on."""
_JOIN: Final = 3
"""The version of JoinGroup: the last one in which a new member needs no id first, which takes a request less."""
_SYNC: Final = 2
HEARTBEAT: Final = 2
"""The version of Heartbeat."""
METADATA_BYTES: Final = 200
_ASSIGNMENT_BYTES: Final = 100


class Connection:
    """A connection to the group's coordinator, with any number of requests in flight."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._sending = trio.Lock()
        self._ids = itertools.count(1)
        self._waiting: list[tuple[int, type[WireMessage], int, trio.Event, list[WireMessage]]] = []
        self._buffer = bytearray()

    def fileno(self) -> int:
        """Return the socket's descriptor, which does not block."""
        return self._stream.socket.fileno()

    async def ask(self, key: int, version: int, request: WireMessage, kind: type[WireMessage]) -> WireMessage:
        """Return the response to a request; `read` must run."""
        done, answer = trio.Event(), list[WireMessage]()
        head = encode_request_header(RequestHeader(key, version, next(self._ids), "bench"))
        async with self._sending:
            self._waiting.append((key, kind, version, done, answer))
            await self._stream.send_all(frame(head, request.encode(version)))
        await done.wait()
        return answer[0]

    async def read(self) -> None:
        """Take responses, which come in the order of the requests, until cancelled."""
        while True:
            while len(self._buffer) >= 4:
                size = int.from_bytes(self._buffer[:4])
                if len(self._buffer) < 4 + size:
                    break
                body = bytes(self._buffer[4 : 4 + size])
                del self._buffer[: 4 + size]
                key, kind, version, done, answer = self._waiting.pop(0)
                _, at = decode_response_header(body, 0, size, key, version)
                answer.append(kind.decode(memoryview(body)[at:], version))
                done.set()
            some = await self._stream.receive_some(1 << 16)
            assert some, "the connection was closed"
            self._buffer += some


@dataclass(slots=True)
class Member:
    """A member of a group, on a connection that it may share with members of other groups."""

    connection: Connection
    group: str
    id: str = ""
    generation: int = -1

    async def join_and_sync(self, metadata: bytes) -> None:
        """Join until it is in a generation whose assignments are there."""
        while True:
            joined = await self._join(metadata)
            if joined.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
                continue
            if joined.error_code in _NOT_YET:  # a broker that has just started reads its groups first
                await trio.sleep(0.1)
                continue
            assert joined.error_code == ErrorCode.NONE, joined.error_code
            self.id, self.generation = joined.member_id, joined.generation_id
            assignments = [
                SyncGroupRequestAssignment(each.member_id, b"x" * _ASSIGNMENT_BYTES) for each in joined.members
            ]
            request = SyncGroupRequest(self.group, self.generation, self.id, assignments=assignments)
            synced = await self.connection.ask(ApiKey.SYNC_GROUP, _SYNC, request, SyncGroupResponse)
            assert isinstance(synced, SyncGroupResponse)
            if synced.error_code == ErrorCode.NONE:
                return
            assert synced.error_code == ErrorCode.REBALANCE_IN_PROGRESS, synced.error_code

    async def _join(self, metadata: bytes) -> JoinGroupResponse:
        request = JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=_SESSION_MS,
            rebalance_timeout_ms=_SESSION_MS,
            member_id=self.id,
            protocol_type="bench",
            protocols=[JoinGroupRequestProtocol("range", metadata)],
        )
        joined = await self.connection.ask(ApiKey.JOIN_GROUP, _JOIN, request, JoinGroupResponse)
        assert isinstance(joined, JoinGroupResponse)
        return joined
