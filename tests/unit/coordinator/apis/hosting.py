"""A virtual cluster that hosts some groups, and client connections to it, on frames and without sockets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from kproxy.config.groups import GroupRule
from kproxy.coordinator.policies import policies
from kproxy.coordinator.rules import GroupRules
from kproxy.observe.faults import boundary
from kproxy.observe.troubles import Troubles, Where
from kproxy.protocol.context import Context
from kproxy.protocol.outcomes import Answer, AskBroker, Deferred, Outcome
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.heartbeat_request import HeartbeatRequest
from kproxy.wire.generated.heartbeat_response import HeartbeatResponse
from kproxy.wire.header import (
    RequestHeader,
    decode_request_header,
    decode_response_header,
    encode_request_header,
    encode_response_header,
)
from kproxy.wire.message import WireMessage
from tests.unit.coordinator.world import World
from tests.unit.relay.flows import Cluster

if TYPE_CHECKING:
    from kproxy.coordinator.hosted_groups import HostedGroups

M = TypeVar("M", bound=WireMessage)
GROUP, OTHER = "hosted-1", "other-1"
ID, CLIENT, SIZE = 77, "app", 4
UNKNOWN = 25
"""What a broker answers to a heartbeat of nobody, where the principal may read the group."""


class Hosting(World):
    """A world whose groups are those of one rule, as the policies' handlers see it."""

    def __init__(self) -> None:
        super().__init__()
        self._rules = GroupRules([GroupRule(match="hosted-.*")], "clusters.a")
        self.troubles = Troubles()
        self.clashes: list[tuple[str, str]] = []
        """What was reported: the group, and who was refused."""
        self.handlers = policies(cast("HostedGroups", self))

    def hosts(self, group_id: str) -> bool:
        return self._rules.settings_of(group_id) is not None

    @contextmanager
    def acting(self) -> Iterator[float]:
        yield self.now

    def clash(self, group_id: str, refused: str) -> None:
        self.clashes.append((group_id, refused))

    def contained(self) -> AbstractContextManager[None, bool]:
        return boundary(self.troubles, Where.GROUPS)


def head(key: int, version: int) -> bytes:
    """The header of a request."""
    return bytes(encode_request_header(RequestHeader(key, version, ID, CLIENT)))


class Response(Generic[M]):
    """The response to a request, which may come later."""

    def __init__(self, outcome: Deferred | Answer, key: int, version: int, kind: type[M]) -> None:
        self._outcome, self._key, self._version, self._kind = outcome, key, version, kind

    @property
    def waits(self) -> bool:
        """True while there is none."""
        return self._outcome.frame is None

    @property
    def body(self) -> M:
        """The response, which must be there: a whole frame, to this request, in its version."""
        frame = self._outcome.frame
        assert frame is not None, "no response yet"
        assert int.from_bytes(frame[:SIZE], "big") == len(frame) - SIZE
        correlation_id, body = decode_response_header(frame, SIZE, len(frame), self._key, self._version)
        assert correlation_id == ID
        return self._kind.decode(frame[body:], self._version)


class Connection:
    """A client's connection: it sends a request and gets an outcome, or what comes of it."""

    def __init__(self, hosting: Hosting, client: str = "10.0.0.9:1234") -> None:
        self.hosting = hosting
        self.context = Context(Cluster(), 7, client, "10.9.8.7")
        self.questions: list[HeartbeatRequest] = []
        """What the broker was asked."""

    def outcome(self, key: int, version: int, body: bytes) -> Outcome | None:
        """What the handler of an API makes of a request's body."""
        handle = self.hosting.handlers[key].request
        assert handle is not None
        self.context.walk = None  # as the relay has it for a frame that comes in one read
        return handle(self.context, memoryview(head(key, version) + body))

    def send(self, request: WireMessage, version: int, response: type[M], permits: int = UNKNOWN) -> Response[M]:
        """Send a request of a hosted group; the broker answers the question whether it may with `permits`."""
        key = cast(int, request.api_key)  # type: ignore[attr-defined]
        outcome = self.outcome(key, version, request.encode(version))
        if isinstance(outcome, AskBroker):
            outcome = self._asked(outcome, permits)
        assert isinstance(outcome, Deferred | Answer)
        return Response(outcome, key, version, response)

    def _asked(self, asked: AskBroker, permits: int) -> Deferred | Answer:
        question = next(asked.steps)
        header, body = decode_request_header(question, SIZE, len(question))
        version = header.api_version
        assert header == RequestHeader(ApiKey.HEARTBEAT, version, ID, CLIENT)
        self.questions.append(HeartbeatRequest.decode(question[body:], version))
        answer = encode_response_header(ID, ApiKey.HEARTBEAT, version)
        try:
            asked.steps.send(bytes(answer) + HeartbeatResponse(error_code=permits).encode(version))
        except StopIteration as end:
            return end.value if isinstance(end.value, Deferred) else Answer(end.value)
        raise AssertionError("the broker is asked twice")
