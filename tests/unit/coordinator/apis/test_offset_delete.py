"""kproxy.coordinator.apis.offset_delete: offsets in use stay, the broker deletes the others."""

from __future__ import annotations

import pytest

from kproxy.observe.reasons import Reason
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kproxy.wire.generated.offset_delete_response import OffsetDeleteResponse
from tests.unit.coordinator.apis.admin_world import Admin, Broker, encoded, subscription

USED = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


def request(group: str, *topics: tuple[str, list[int]]) -> OffsetDeleteRequest:
    return OffsetDeleteRequest(
        group,
        [OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(one) for one in some]) for name, some in topics],
    )


def errors(response: OffsetDeleteResponse) -> list[tuple[str, dict[int, int]]]:
    return [
        (topic.name, {one.partition_index: one.error_code for one in topic.partitions}) for topic in response.topics
    ]


def test_offsets_in_use() -> None:
    """Partitions of a topic that any member subscribes to do not reach the broker; each is answered once."""
    admin = Admin(Broker(groups={"mine": "Empty"}))
    admin.hosting.stable("mine", "a", "b", metadata=subscription("orders", "stock"))
    response = admin.ask(request("mine", ("orders", [0, 2]), ("old", [1]), ("stock", []), ("orders", [2, 3])), 0)
    assert (response.error_code, response.throttle_time_ms) == (0, 5)
    assert errors(response) == [("old", {1: 0}), ("orders", {0: USED, 2: USED, 3: USED}), ("stock", {})]
    assert [one for _, _, one in admin.asked] == [request("mine"), request("mine", ("old", [1]))]


def test_nothing_to_delete() -> None:
    """The broker says whether the principal may, and that is all."""
    admin = Admin(Broker(groups={"mine": "Empty"}))
    admin.hosting.stable("mine", "a", metadata=subscription("orders"))
    response = admin.ask(request("mine"), 0)
    assert (response.error_code, errors(response), len(admin.asked)) == (0, [], 1)


def test_subscriptions_of_several_members() -> None:
    """All of them count."""
    admin = Admin(Broker(groups={"mine": "Empty"}))
    admin.hosting.stable("mine", "a", metadata=subscription("orders"))
    group = admin.hosting.coordinator.groups["mine"]
    admin.hosting.stable("mine-other", "b", metadata=subscription("stock"))
    (other,) = admin.hosting.coordinator.groups["mine-other"].members.values()
    group.members[other.id] = other
    response = admin.ask(request("mine", ("orders", [0]), ("stock", [0]), ("old", [0])), 0)
    assert errors(response) == [("old", {0: 0}), ("orders", {0: USED}), ("stock", {0: USED})]


@pytest.mark.parametrize("old", [False, True])
def test_a_group_that_the_broker_does_not_know(old: bool) -> None:
    """It has no offsets there, so that nothing is left to delete; old brokers say so even if no topic is named."""
    admin = Admin(Broker(errors={"mine": ErrorCode.GROUP_ID_NOT_FOUND} if old else {}))
    admin.hosting.stable("mine", "a", metadata=subscription("orders"))
    response = admin.ask(request("mine", ("orders", [0]), ("old", [0, 1])), 0)
    assert (response.error_code, errors(response)) == (0, [("old", {0: 0, 1: 0}), ("orders", {0: USED})])


@pytest.mark.parametrize("metadata", [b"", b"m", b"\xff\xff", b"\0\1\0\0\0\1\0\5or", b"\0\0\xff\xff\xff\xff"])
def test_a_subscription_that_cannot_be_read(metadata: bytes) -> None:
    """Every topic may be in use."""
    admin = Admin(Broker(groups={"mine": "Empty"}))
    admin.hosting.stable("mine", "a", metadata=metadata)
    assert errors(admin.ask(request("mine", ("orders", [0])), 0)) == [("orders", {0: USED})]


def test_a_group_before_its_first_generation() -> None:
    """The same: nobody has been told a protocol yet."""
    admin = Admin(Broker(groups={"mine": "Empty"}))
    admin.hosting.stable("mine", "a", metadata=subscription("orders"))
    admin.hosting.coordinator.groups["mine"].protocol_name = None
    assert errors(admin.ask(request("mine", ("old", [0])), 0)) == [("old", {0: USED})]


def test_other_groups_than_consumers() -> None:
    """Nothing is known of what they use: 68 for all, and the broker deletes nothing."""
    admin = Admin(Broker(groups={"mine": "Empty"}))
    admin.hosting.stable("mine", "a", protocol_type="connect")
    response = admin.ask(request("mine", ("old", [0])), 0)
    assert (response.error_code, errors(response)) == (ErrorCode.NON_EMPTY_GROUP, [])
    assert [one for _, _, one in admin.asked] == [request("mine")]


@pytest.mark.parametrize("protocol_type", ["consumer", "connect"])
@pytest.mark.parametrize("error", [ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.NOT_COORDINATOR])
def test_what_the_broker_refuses(protocol_type: str, error: int) -> None:
    """It is asked first, before anything is read of the members: nobody else learns what a group subscribes to."""
    admin = Admin(Broker(errors={"mine": error}))
    admin.hosting.stable("mine", "a", protocol_type=protocol_type, metadata=subscription("orders"))
    response = admin.ask(request("mine", ("orders", [0])), 0)
    assert (response.error_code, errors(response)) == (error, [])
    assert [one for _, _, one in admin.asked] == [request("mine")]


def test_an_error_for_what_is_deleted() -> None:
    """It is the answer, as it would be without hosted groups."""
    admin = Admin(Broker(groups={"mine": "Empty"}, late_error=ErrorCode.COORDINATOR_NOT_AVAILABLE))
    admin.hosting.stable("mine", "a", metadata=subscription("orders"))
    response = admin.ask(request("mine", ("orders", [0]), ("old", [0])), 0)
    assert (response.error_code, errors(response)) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, [])


@pytest.mark.parametrize("refuses", [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR])
def test_a_coordinator_that_refuses(refuses: int) -> None:
    """The broker gets nothing of a hosted group."""
    admin = Admin(Broker(groups={"mine": "Empty", "theirs": "Empty"}))
    admin.hosting.coordinator.refuses = refuses
    assert admin.ask(request("mine", ("old", [0])), 0).error_code == refuses
    assert admin.asked == []
    assert errors(admin.ask(request("theirs", ("old", [0])), 0)) == [("old", {0: 0})]


def test_groups_that_pass() -> None:
    """One that is not hosted, not known or has no members is the broker's alone; a long request, too."""
    admin = Admin(Broker(groups={"theirs": "Empty", "mine-empty": "Empty"}))
    admin.hosting.empty("mine-empty")
    for group, error in [("theirs", 0), ("mine-empty", 0), ("mine-nobody", 69)]:
        frame = encoded(request(group, ("old", list(range(20_000)))), 0)
        assert admin.ask_frame(frame).error_code == error
    assert len(admin.asked) == 3


def test_a_request_that_is_too_long() -> None:
    """One for a group with members ends the connection if it would take long to decode."""
    admin = Admin(Broker(groups={"mine": "Empty"}))
    admin.hosting.stable("mine", "a", metadata=subscription("orders"))
    admin.feed("client", encoded(request("mine", ("old", list(range(9000)))), 0))
    assert (admin.reason, bytes(admin.broker.data)) == (Reason.FRAME_TOO_LARGE, b"")
    assert admin.detail == "36019 bytes of partitions of a group with members; the limit is 32768"
