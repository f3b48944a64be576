"""kproxy.coordinator.apis.describe_groups: the broker's groups as they are, the hosted ones as kproxy knows them."""

from __future__ import annotations

import pytest

from kproxy.coordinator.apis.admin_request import MOST_GROUPS
from kproxy.observe.reasons import Reason
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.describe_groups_request import DescribeGroupsRequest
from kproxy.wire.generated.describe_groups_response import DescribedGroup, DescribeGroupsResponse
from kproxy.wire.generated.error_codes import ErrorCode
from tests.support.every import every
from tests.unit.coordinator.apis.admin_world import ALL, DELETE, NOT_ASKED, Admin, Broker, encoded
from tests.unit.relay import frames

VERSIONS = frames.versions(ApiKey.DESCRIBE_GROUPS)
WITH_OPERATIONS = range(3, 7)


def described(
    admin: Admin, version: int, *groups: str, operations: bool = False, cut: int = 1 << 20
) -> list[DescribedGroup]:
    response: DescribeGroupsResponse = admin.ask(DescribeGroupsRequest(list(groups), operations), version, cut=cut)
    assert response.throttle_time_ms == (5 if version else 0)
    return response.groups


@pytest.mark.parametrize("cut", [1, 1 << 20])
@every("version", VERSIONS)
def test_a_stable_group(version: int, cut: int) -> None:
    """Its members are kproxy's, in the place where the request has the group; the broker's groups stay as they are."""
    admin = Admin(Broker(groups={"theirs": "Stable", "mine": "Empty"}))
    admin.hosting.stable("mine", "a", "b=static", metadata=b"topics")
    first, mine, last = described(admin, version, "theirs", "mine", "theirs", cut=cut)
    assert [one.member_id for one in first.members] == ["of theirs"]
    assert first == last
    assert (mine.error_code, mine.error_message, mine.group_id) == (0, None, "mine")
    assert (mine.group_state, mine.protocol_type, mine.protocol_data) == ("Stable", "consumer", "range")
    a, b = mine.members
    assert (a.client_id, a.client_host, a.member_metadata) == ("a", "/a.host", b"topics")
    assert a.member_assignment == f"of {a.member_id}".encode()
    assert (a.group_instance_id, b.group_instance_id) == (None, "static" if version >= 4 else None)
    assert admin.asked == [(15, version, DescribeGroupsRequest(["theirs", "mine", "theirs"]))]


@every("version", VERSIONS)
def test_a_group_that_the_broker_does_not_know(version: int) -> None:
    """It is described all the same: v6 makes an error of what was a dead group before."""
    admin = Admin()
    admin.hosting.stable("mine", "a")
    mine, other = described(admin, version, "mine", "nobody")
    assert (mine.error_code, mine.error_message, mine.group_state, len(mine.members)) == (0, None, "Stable", 1)
    assert (other.error_code, other.group_state) == (69 if version >= 6 else 0, "Dead")


@every("version", VERSIONS)
def test_a_group_that_rebalances(version: int) -> None:
    """It has members, but no protocol and no data of theirs."""
    admin = Admin()
    admin.hosting.joining("mine", "a", "b", protocol_type="connect")
    (mine,) = described(admin, version, "mine")
    assert (mine.group_state, mine.protocol_type, mine.protocol_data) == ("CompletingRebalance", "connect", "")
    assert [(one.client_id, one.member_metadata, one.member_assignment) for one in mine.members] == [
        ("a", b"", b""),
        ("b", b"", b""),
    ]


def test_groups_without_members() -> None:
    """One that was left keeps its protocol type; one that nobody has joined yet has none."""
    admin = Admin()
    admin.hosting.empty("mine")
    left, unknown = described(admin, 5, "mine", "mine too")
    assert (left.group_state, left.protocol_type, left.protocol_data, left.members) == ("Empty", "consumer", "", [])
    assert (unknown.group_state, unknown.protocol_type) == ("Dead", "")
    admin.hosting.coordinator.groups["mine"].protocol_type = None
    (left,) = described(admin, 5, "mine")
    assert (left.group_state, left.protocol_type) == ("Empty", "")


@pytest.mark.parametrize("error", [ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.NOT_COORDINATOR])
@every("version", VERSIONS)
def test_what_the_broker_refuses(version: int, error: int) -> None:
    """Nothing of the group is shown to a principal that may not see it, or at another broker."""
    admin = Admin(Broker(errors={"mine": error}))
    admin.hosting.stable("mine", "a")
    assert described(admin, version, "mine") == [
        DescribedGroup(error, "no mine" if version >= 6 else None, "mine"),
    ]


@pytest.mark.parametrize("known", [False, True])
@every("version", WITH_OPERATIONS)
def test_authorized_operations(version: int, known: bool) -> None:
    """They are the broker's, also where v6 makes an error of a group that the broker does not know."""
    admin = Admin(Broker(groups={"mine": "Empty"} if known else {}, operations=DELETE))
    admin.hosting.stable("mine", "a")
    (mine,) = described(admin, version, "mine", operations=True)
    assert (mine.error_code, mine.authorized_operations) == (0, DELETE)
    assert len(admin.asked) == (2 if version == 6 and not known else 1)
    (mine,) = described(admin, version, "mine")
    assert mine.authorized_operations == NOT_ASKED


def test_operations_that_the_broker_does_not_tell() -> None:
    """The group is described without them."""
    admin = Admin(Broker(unreadable=frozenset({1})))
    admin.hosting.stable("mine", "a")
    (mine,) = described(admin, 6, "mine", operations=True)
    assert (mine.error_code, mine.group_state, mine.authorized_operations) == (0, "Stable", NOT_ASKED)


@every("version", VERSIONS)
@pytest.mark.parametrize("refuses", [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR])
def test_a_coordinator_that_refuses(version: int, refuses: int) -> None:
    """While groups are loaded, or kproxy ends, each hosted group has that error; the others are described."""
    admin = Admin(Broker(groups={"theirs": "Stable"}))
    admin.hosting.stable("mine", "a")
    admin.hosting.coordinator.refuses = refuses
    mine, unknown, theirs = described(admin, version, "mine", "mine too", "theirs")
    assert (mine.error_code, mine.members, theirs.group_state) == (refuses, [], "Stable")
    assert (unknown.error_code, unknown.members) == (refuses, [])


@every("version", VERSIONS)
@pytest.mark.parametrize("groups", [[], ["theirs"], ["mine too"]])
def test_requests_without_a_hosted_group_pass(version: int, groups: list[str]) -> None:
    """The request goes on byte by byte; the response is held until it is whole, for its error codes."""
    admin = Admin()
    admin.hosting.stable("mine", "a")
    frame = encoded(DescribeGroupsRequest(groups), version)
    admin.feed("client", frame)
    assert bytes(admin.broker.data) == frame
    response = admin.broker_on_paper.answer(frame)
    for byte in response:
        admin.feed("broker", bytes((byte,)))
        assert admin.responses.held_bytes <= len(response)
    assert (bytes(admin.client.data), admin.responses.held_bytes) == (response, 0)


@every("version", VERSIONS)
def test_too_many_groups(version: int) -> None:
    """A request with a million names ends the connection before any of them is looked at."""
    admin = Admin()
    admin.hosting.stable("mine", "a")
    admin.feed("client", encoded(DescribeGroupsRequest(["mine"] * (MOST_GROUPS + 1)), version))
    assert (admin.reason, bytes(admin.broker.data)) == (Reason.FRAME_TOO_LARGE, b"")
    assert admin.detail == (
        f"a request that names {MOST_GROUPS + 1} groups; the limit is {MOST_GROUPS}: ask for them in several"
    )


@every("version", VERSIONS)
def test_many_members_are_described_in_steps(version: int) -> None:
    """No step encodes more than a few hundred; a member that goes meanwhile, or a rebalance, changes nothing."""
    admin = Admin()
    admin.hosting.stable("mine", *(f"c{number}" for number in range(1500)))
    admin.feed("client", encoded(DescribeGroupsRequest(["mine"]), version))
    admin.feed("broker", admin.broker_on_paper.answer(bytes(admin.broker.data)))
    admin.broker.data.clear()
    (stepwise,) = admin.steps
    stepwise.step()
    group = admin.hosting.coordinator.groups["mine"]
    for member in group.members.values():
        member.assignment = b""
    admin.run()
    assert admin.steps_taken > 5
    assert stepwise.frame is not None
    head = 4 + 4 + (1 if version >= 5 else 0)
    (mine,) = DescribeGroupsResponse.decode(stepwise.frame[head:], version).groups
    assert [one.member_assignment for one in mine.members] == [f"of {one}".encode() for one in group.members]


def test_a_group_that_is_gone_meanwhile() -> None:
    """The broker's word counts for a group that was deleted since it was asked."""
    admin = Admin()
    admin.hosting.empty("mine")
    admin.feed("client", encoded(DescribeGroupsRequest(["mine"]), 5))
    admin.feed("broker", admin.broker_on_paper.answer(bytes(admin.broker.data)))
    admin.broker.data.clear()
    admin.hosting.coordinator.delete("mine", admin.hosting.now)
    admin.run()
    (mine,) = DescribeGroupsResponse.decode(bytes(admin.client.data)[9:], 5).groups
    assert (mine.error_code, mine.group_state) == (0, "Dead")


def test_all_operations_of_many_unknown_groups() -> None:
    """They are asked for in several questions."""
    admin = Admin()
    names = [f"mine-{number}" for number in range(450)]
    for name in names:
        admin.hosting.empty(name)
    groups = described(admin, 6, *names, operations=True)
    assert [(one.group_id, one.group_state, one.authorized_operations) for one in groups] == [
        (name, "Empty", ALL) for name in names
    ]
    assert [len(request.groups) for _, _, request in admin.asked] == [450, 200, 200, 50]
