"""kproxy.coordinator.apis.list_groups: each hosted group once, where the backend has its coordinator."""

from __future__ import annotations

import pytest

from kproxy.observe.reasons import Reason
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode
from kproxy.wire.generated.list_groups_request import ListGroupsRequest
from kproxy.wire.generated.list_groups_response import ListedGroup, ListGroupsResponse
from tests.support.every import every
from tests.unit.coordinator.apis.admin_world import Admin, Broker, encoded
from tests.unit.relay import frames

VERSIONS = frames.versions(ApiKey.LIST_GROUPS)


def listed(
    admin: Admin, version: int, request: ListGroupsRequest | None = None, cut: int = 1 << 20
) -> list[ListedGroup]:
    response: ListGroupsResponse = admin.ask(request or ListGroupsRequest(), version, cut=cut)
    assert (response.throttle_time_ms, response.error_code) == (5 if version else 0, 0)
    return response.groups


def entry(version: int, name: str, state: str, protocol_type: str = "consumer") -> ListedGroup:
    return ListedGroup(name, protocol_type, state if version >= 4 else "", "classic" if version >= 5 else "")


def names(groups: list[ListedGroup]) -> list[str]:
    return [one.group_id for one in groups]


@pytest.mark.parametrize("cut", [1, 1 << 20])
@every("version", VERSIONS)
def test_each_hosted_group_once(version: int, cut: int) -> None:
    """With kproxy's state, whether the broker lists it or not; what another broker has, or is secret, is not."""
    errors: dict[str, int] = {
        "mine-there": ErrorCode.NOT_COORDINATOR,
        "mine-secret": ErrorCode.GROUP_AUTHORIZATION_FAILED,
    }
    admin = Admin(Broker(groups={"a": "Stable", "mine": "Empty", "b": "Empty"}, errors=errors))
    admin.hosting.stable("mine", "c")
    admin.hosting.joining("mine-new", "c", protocol_type="connect")
    for name in errors:
        admin.hosting.stable(name, "c")
    assert listed(admin, version, cut=cut) == [
        entry(version, "a", "Stable"),
        entry(version, "mine", "Stable"),
        entry(version, "b", "Empty"),
        entry(version, "mine-new", "CompletingRebalance", "connect"),
    ]
    assert [(key, set(request.groups)) for key, _, request in admin.asked[1:]] == [
        (15, {"mine-new", "mine-there", "mine-secret"})
    ]


@pytest.mark.parametrize("version", range(4, 6))
def test_a_filter_by_state(version: int) -> None:
    """It means kproxy's state of a hosted group, not the broker's; its case does not matter."""
    admin = Admin(Broker(groups={"a": "Stable", "mine": "Empty", "b": "Empty", "mine-empty": "Empty"}))
    admin.hosting.stable("mine", "c")
    admin.hosting.stable("mine-new", "c")
    admin.hosting.empty("mine-empty")
    for states, expected in [
        (["STABLE"], ["a", "mine", "mine-new"]),
        (["empty"], ["b", "mine-empty"]),
        (["preparingRebalance", "Empty", "stable"], ["a", "mine", "b", "mine-empty", "mine-new"]),
        (["Dead"], []),
    ]:
        assert names(listed(admin, version, ListGroupsRequest(states))) == expected
    assert [one.group_state for one in listed(admin, version, ListGroupsRequest(["Stable"]))] == ["Stable"] * 3


def test_a_filter_by_type() -> None:
    """All hosted groups are classic ones: no other type concerns them, and the broker answers alone."""
    admin = Admin(Broker(groups={"a": "Stable"}))
    admin.hosting.stable("mine", "c")
    assert names(listed(admin, 5, ListGroupsRequest([], ["consumer", "classic"]))) == ["a", "mine"]
    assert names(listed(admin, 5, ListGroupsRequest(["stable"], ["Classic"]))) == ["mine"]
    admin.asked.clear()
    frame = encoded(ListGroupsRequest([], ["Consumer", "share"]), 5)
    assert names(admin.ask_frame(frame).groups) == []
    assert len(admin.asked) == 1


@every("version", VERSIONS)
def test_nothing_is_hosted(version: int) -> None:
    """The request passes, and the response is not held."""
    admin = Admin(Broker(groups={"a": "Stable"}))
    frame = encoded(ListGroupsRequest(), version)
    admin.feed("client", frame)
    response = admin.broker_on_paper.answer(frame)
    for byte in response:
        admin.feed("broker", bytes((byte,)))
        assert admin.responses.held_bytes <= 16
    assert (bytes(admin.broker.data), bytes(admin.client.data)) == (frame, response)


@every("version", VERSIONS)
def test_the_brokers_error(version: int) -> None:
    """It is the answer, and the broker is asked nothing more."""
    admin = Admin(Broker(top=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
    admin.hosting.stable("mine", "c")
    assert admin.ask(ListGroupsRequest(), version).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert len(admin.asked) == 1


@every("version", VERSIONS)
@pytest.mark.parametrize("error", [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE])
def test_a_coordinator_that_does_not_know_yet(version: int, error: int) -> None:
    """A list that lacks groups would be taken for the whole: the client asks again, as it does with a broker."""
    admin = Admin(Broker(groups={"a": "Stable"}, errors={"mine": error}))
    admin.hosting.stable("mine", "c")
    assert admin.ask(ListGroupsRequest(), version).error_code == error
    admin.hosting.coordinator.refuses = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    admin.asked.clear()
    assert admin.ask(ListGroupsRequest(), version).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert admin.asked == []


def test_a_kproxy_that_is_to_end() -> None:
    """It lists its groups to the end; they are the restarted process's next."""
    admin = Admin(Broker(groups={"a": "Stable", "mine-unknown": "Empty"}))
    admin.hosting.stable("mine", "c")
    admin.hosting.coordinator.refuses = ErrorCode.NOT_COORDINATOR
    assert names(listed(admin, 5)) == ["a", "mine-unknown", "mine"]


def test_a_second_answer_that_makes_no_sense() -> None:
    """The first one is not lost; those that it places are listed."""
    admin = Admin(Broker(groups={"a": "Stable", "mine": "Empty"}, unreadable=frozenset({1})))
    admin.hosting.stable("mine", "c")
    admin.hosting.stable("mine-new", "c")
    assert names(listed(admin, 5)) == ["a", "mine"]


@every("version", (VERSIONS[0], VERSIONS[-1]))
def test_thousands_of_groups(version: int) -> None:
    """They are asked for in parts, and their list is made in steps."""
    admin = Admin(Broker(groups={f"mine-{number}": "Empty" for number in range(0, 2000, 2)}))
    for number in range(2000):
        admin.hosting.empty(f"mine-{number}")
    assert sorted(names(listed(admin, version))) == sorted(f"mine-{number}" for number in range(2000))
    assert [len(request.groups) for key, _, request in admin.asked if key == 15] == [200] * 5
    assert admin.steps_taken > 5


def test_groups_that_change_meanwhile() -> None:
    """One that is gone is listed as the broker has it, if it has it; one that has left the state asked for is not."""
    admin = Admin(Broker(groups={"mine": "Empty"}))
    admin.hosting.empty("mine")
    admin.hosting.empty("mine-new")
    admin.hosting.empty("mine-fresh")
    admin.feed("client", encoded(ListGroupsRequest(["empty"]), 4))
    for _ in range(2):
        question = bytes(admin.broker.data)
        admin.broker.data.clear()
        admin.feed("broker", admin.broker_on_paper.answer(question))
    coordinator, now = admin.hosting.coordinator, admin.hosting.now
    coordinator.delete("mine", now)
    coordinator.delete("mine-new", now)
    admin.hosting.stable("mine-fresh", "c")
    admin.run()
    assert names(ListGroupsResponse.decode(bytes(admin.client.data)[9:], 4).groups) == ["mine"]


def test_a_group_that_is_gone_before_it_is_asked_for() -> None:
    """The broker is asked about those that are left."""
    admin = Admin()
    for number in range(250):
        admin.hosting.empty(f"mine-{number}")
    admin.feed("client", encoded(ListGroupsRequest(), 5))
    question = bytes(admin.broker.data)
    admin.broker.data.clear()
    admin.feed("broker", admin.broker_on_paper.answer(question))
    for number in range(200, 240):
        admin.hosting.coordinator.delete(f"mine-{number}", admin.hosting.now)
    admin.run()
    assert [len(request.groups) for key, _, request in admin.asked if key == 15] == [200, 10]


def test_filters_that_are_too_long() -> None:
    """Kafka has nine states: thousands are not read."""
    admin = Admin()
    admin.feed("client", encoded(ListGroupsRequest(["x" * 10] * 200), 4))
    assert (admin.reason, admin.detail) == (Reason.FRAME_TOO_LARGE, "filters of 2203 bytes; the limit is 2048")
