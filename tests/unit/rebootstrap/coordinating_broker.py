"""A broker that coordinates groups as far as members leave them, and answers wrongly as scripted."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import trio

from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.find_coordinator_request import FindCoordinatorRequest
from kproxy.wire.generated.find_coordinator_response import FindCoordinatorResponse
from kproxy.wire.generated.leave_group_request import LeaveGroupRequest
from kproxy.wire.generated.leave_group_response import LeaveGroupResponse, MemberResponse
from kproxy.wire.header import RequestHeader, decode_request_header, encode_response_header
from kproxy.wire.message import WireMessage
from kproxy.wire.primitives import frame
from tests.unit.upstream.scripted_broker import ScriptedBroker

SERVED = (ApiKey.FIND_COORDINATOR, ApiKey.LEAVE_GROUP, ApiKey.METADATA, ApiKey.API_VERSIONS)
ALONE = 2
"""The newest LeaveGroup of one member."""


class CoordinatingBroker(ScriptedBroker):
    """Coordinates every group, in which are its `members`."""

    def __init__(self, *members: tuple[str, str], newest_leave: int = 5) -> None:
        """Members are a group's id and their own."""
        super().__init__()
        self.members = set(members)
        self.newest_leave = newest_leave
        self.coordinator_errors: deque[int] = deque()
        """Errors of the next answers to FindCoordinator."""
        self.refused_groups: dict[str, int] = {}
        """Errors of FindCoordinator, by group."""
        self.leave_errors: deque[int] = deque()
        """Errors of the next answers to LeaveGroup, at the top."""
        self.member_errors: dict[str, int] = {}
        """Errors of members, by id."""
        self.omits: set[str] = set()
        """Members that its answers leave out."""
        self.answers = math.inf
        """How many LeaveGroup requests it answers; then no more."""
        self.left: list[tuple[str, list[str]]] = []
        """The group and the members of each LeaveGroup."""
        self.on_leave: Callable[[], None] = lambda: None
        """Called when LeaveGroup comes."""

    def _hello(self, version: int) -> bytes:
        newest = {ApiKey.LEAVE_GROUP: self.newest_leave}
        keys = [ApiVersion(key, 0, newest.get(key, 99)) for key in SERVED]
        return ApiVersionsResponse(api_keys=keys).encode(version)

    async def _handle(self, stream: trio.SocketStream, request: bytes) -> None:
        header, body = decode_request_header(request, 0, len(request))
        if header.api_key == ApiKey.FIND_COORDINATOR:
            await self._answer(stream, header, self._found(FindCoordinatorRequest.decode(request[body:], header[1])))
        elif header.api_key == ApiKey.LEAVE_GROUP:
            asked = LeaveGroupRequest.decode(request[body:], header.api_version)
            answer = self._leave(asked, header.api_version)
            if len(self.left) <= self.answers:
                await self._answer(stream, header, answer)
        else:
            await super()._handle(stream, request)
            return
        self.seen.append(header)

    async def _answer(self, stream: trio.SocketStream, header: RequestHeader, message: WireMessage) -> None:
        head = encode_response_header(header.correlation_id, header.api_key, header.api_version)
        await stream.send_all(frame(head, message.encode(header.api_version)))

    def _found(self, asked: FindCoordinatorRequest) -> FindCoordinatorResponse:
        code = self.refused_groups.get(asked.key, ErrorCode.NONE)
        if self.coordinator_errors or code:
            return FindCoordinatorResponse(error_code=code or self.coordinator_errors.popleft())
        return FindCoordinatorResponse(node_id=1, host="127.0.0.1", port=self.port)

    def _leave(self, asked: LeaveGroupRequest, version: int) -> LeaveGroupResponse:
        ids = [asked.member_id] if version <= ALONE else [one.member_id for one in asked.members]
        self.on_leave()
        self.left.append((asked.group_id, ids))
        if self.leave_errors:
            return LeaveGroupResponse(error_code=self.leave_errors.popleft())
        codes = {one: self._gone(asked.group_id, one) for one in ids}
        if version <= ALONE:
            return LeaveGroupResponse(error_code=codes[asked.member_id])
        answered = [MemberResponse(one, None, code) for one, code in codes.items() if one not in self.omits]
        return LeaveGroupResponse(members=answered)

    def _gone(self, group_id: str, member_id: str) -> int:
        if code := self.member_errors.get(member_id):
            return code
        if (group_id, member_id) not in self.members:
            return ErrorCode.UNKNOWN_MEMBER_ID
        self.members.remove((group_id, member_id))
        return ErrorCode.NONE
