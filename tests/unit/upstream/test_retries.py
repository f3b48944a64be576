"""kproxy.upstream.retries: each class of error does what it asks, and each of its users obeys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, cast

import pytest
import trio

from kproxy.agreement.control_topic import ControlTopic
from kproxy.agreement.failover_record import FailoverRecord
from kproxy.agreement.order import Order
from kproxy.cluster.rehearsal import listed_groups
from kproxy.coordinator.lag import committed_offsets
from kproxy.delivery.kafka import Kafka
from kproxy.errors import RefusedError, UpstreamError
from kproxy.rebootstrap.actions import Outcome
from kproxy.rebootstrap.leave_groups import Leaving
from kproxy.upstream.client import UpstreamClient
from kproxy.upstream.responses import check
from kproxy.upstream.retries import Retries
from kproxy.wire.generated.find_coordinator_response import FindCoordinatorResponse
from kproxy.wire.generated.leave_group_response import LeaveGroupResponse, MemberResponse
from kproxy.wire.generated.list_groups_response import ListGroupsResponse
from kproxy.wire.generated.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kproxy.wire.generated.offset_fetch_response import OffsetFetchResponse
from kproxy.wire.generated.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from tests.unit.delivery.items import Number, record

AGAIN: Final = "asks again"
LOOKS_UP: Final = "looks up, then asks again"
GIVES_UP: Final = "gives up"
CLASSES: Final = {
    "retriable": (7, AGAIN),
    "refresh-retriable": (16, LOOKS_UP),
    "rebootstrap": (129, LOOKS_UP),
    "abortable": (120, GIVES_UP),
    "application-recoverable": (36, GIVES_UP),
    "unknown": (2000, GIVES_UP),
    "invalid-configuration": (29, GIVES_UP),
    "idempotence": (45, GIVES_UP),
}
"""A code of each class, and what it asks of who gets it."""
ORDER: Final = Order("c", 3, "west", FailoverRecord(1, "id"), "r", "operator", 0.0)


class Brokers:
    """Answers as brokers do, but the first answer to the question has the error. It counts questions and look-ups."""

    def __init__(self, code: int, question: type[Any], look_up: type[Any]) -> None:
        self.nodes: Mapping[int, tuple[str, int]] = {1: ("h", 1)}
        self.codes = [code]
        self.questions = self.look_ups = 0
        self._question, self._look_up = question, look_up

    def set_nodes(self, nodes: Mapping[int, tuple[str, int]]) -> None:
        self.nodes = nodes

    def update(self, node_id: int, host: str, port: int) -> None:
        self.nodes = {**self.nodes, node_id: (host, port)}

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        await trio.sleep_forever()

    async def metadata(self) -> MetadataResponse:
        return cast("MetadataResponse", await self.request(None, MetadataResponse))

    async def request(self, _message: Any, answer: type[Any], **_: Any) -> Any:
        await trio.lowlevel.checkpoint()
        self.look_ups += answer is self._look_up
        self.questions += answer is self._question
        return _answer(answer, self.codes.pop() if answer is self._question and self.codes else 0)

    @property
    def did(self) -> str:
        """What the user of the error did after it."""
        if self.questions == 1:
            return GIVES_UP
        return LOOKS_UP if self.look_ups > 1 else AGAIN


def _answer(kind: type[Any], code: int) -> Any:
    partition = MetadataResponsePartition(leader_id=1)
    made: dict[type[Any], Callable[[], Any]] = {
        MetadataResponse: lambda: MetadataResponse(
            brokers=[MetadataResponseBroker(1, "h", 1)],
            topics=[MetadataResponseTopic(name="t", partitions=[partition])],
        ),
        FindCoordinatorResponse: lambda: FindCoordinatorResponse(node_id=1, host="h", port=1),
        LeaveGroupResponse: lambda: LeaveGroupResponse(error_code=code, members=[MemberResponse("m", None, 0)]),
        OffsetFetchResponse: lambda: OffsetFetchResponse(error_code=code),
        ListGroupsResponse: lambda: ListGroupsResponse(error_code=code),
        ProduceResponse: lambda: ProduceResponse(
            responses=[TopicProduceResponse("t", partition_responses=[PartitionProduceResponse(0, code)])]
        ),
    }
    return made[kind]()


async def leave(client: UpstreamClient) -> bool:
    """Have a member leave its group."""
    leaving = Leaving({"g": ["m"]})
    await leaving.run(client)
    return leaving.outcomes == {Outcome.LEFT: 1}


async def lag(client: UpstreamClient) -> bool:
    """Ask for a group's offsets."""
    return await committed_offsets(client, "g") == {}


async def rehearsal(client: UpstreamClient) -> bool:
    """Ask for all groups."""
    return await listed_groups(client) == []


async def order(client: UpstreamClient) -> bool:
    """Write an order to the control topic."""

    async def ask(question: Callable[[UpstreamClient], Awaitable[None]]) -> None:
        await question(client)

    await ControlTopic("t", "c", ask).write(ORDER)
    return True


async def delivery(client: UpstreamClient) -> bool:
    """Write an item to a topic."""
    topic = Kafka[Number]("kafka", lambda: client, "t", record, rand=lambda: 0.0, linger=0.0)
    async with trio.open_nursery() as nursery:
        await nursery.start(topic.run)
        assert topic.offer(Number(1))
        await topic.flush()
        nursery.cancel_scope.cancel()
    return not topic.counters.dropped


USERS: Final[Mapping[Callable[[UpstreamClient], Awaitable[bool]], tuple[type[Any], type[Any]]]] = {
    leave: (LeaveGroupResponse, FindCoordinatorResponse),
    lag: (OffsetFetchResponse, FindCoordinatorResponse),
    rehearsal: (ListGroupsResponse, MetadataResponse),
    order: (ProduceResponse, MetadataResponse),
    delivery: (ProduceResponse, MetadataResponse),
}
"""Who asks brokers: the answer that has the error, and that of the look-up before it."""


@pytest.mark.parametrize("user", USERS, ids=lambda user: user.__name__)
@pytest.mark.parametrize(("code", "asked"), CLASSES.values(), ids=CLASSES)
async def test_each_user_obeys_each_class(
    user: Callable[[UpstreamClient], Awaitable[bool]], code: int, asked: str
) -> None:
    """It asks again, looks up before that, or gives up, and has what it wants unless it has given up."""
    brokers = Brokers(code, *USERS[user])
    with trio.fail_after(80):
        try:
            done = await user(cast("UpstreamClient", brokers))
        except RefusedError:
            done = False
    assert (brokers.did, done) == (asked, asked != GIVES_UP)


async def test_errors_that_do_not_end(autojump_clock: trio.testing.MockClock) -> None:
    """The error is raised when the time is up, and each one before is noted."""
    noted = list[str]()

    async def found() -> int:
        return 1

    async def fails(_: int) -> None:
        check("OffsetFetch", 14)

    with pytest.raises(RefusedError, match="COORDINATOR_LOAD_IN_PROGRESS"):
        await Retries(found, seconds=1.1, noted=lambda error: noted.append(error.name)).ask(fails)
    assert noted == ["COORDINATOR_LOAD_IN_PROGRESS"] * 5


async def test_what_was_looked_up_is_kept_between_questions() -> None:
    """Until a question fails."""
    looks, fails = list[int](), [False, False, True, False]

    async def look_up() -> int:
        looks.append(1)
        return 1

    async def question(_: int) -> None:
        if fails.pop(0):
            raise UpstreamError("broken off")

    retries = Retries(look_up)
    await retries.ask(question)
    await retries.ask(question)
    assert len(looks) == 1
    with pytest.raises(UpstreamError, match="broken off"):
        await retries.ask(question)
    await retries.ask(question)
    assert len(looks) == 2
