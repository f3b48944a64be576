"""kproxy.coordinator.apis.delete_groups: what has members stays, all else goes from the broker and from kproxy."""

from __future__ import annotations

import pytest

from kproxy.coordinator.apis.admin_request import MOST_GROUPS
from kproxy.observe.reasons import Reason
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.delete_groups_request import DeleteGroupsRequest
from kproxy.wire.generated.delete_groups_response import DeleteGroupsResponse
from kproxy.wire.generated.error_codes import ErrorCode
from tests.support.every import every
from tests.unit.coordinator.apis.admin_world import ALL, DELETE, Admin, Broker, encoded
from tests.unit.relay import frames

VERSIONS = frames.versions(ApiKey.DELETE_GROUPS)


def deleted(admin: Admin, version: int, *groups: str, cut: int = 1 << 20) -> dict[str, int]:
    """The errors by group; no group has two results."""
    response: DeleteGroupsResponse = admin.ask(DeleteGroupsRequest(list(groups)), version, cut=cut)
    errors = {one.group_id: one.error_code for one in response.results}
    assert len(errors) == len(response.results)
    return errors


def sent(admin: Admin) -> list[tuple[int, list[str]]]:
    """The api keys and the groups of what the broker was asked."""
    return [(key, request.groups if key == 15 else request.groups_names) for key, _, request in admin.asked]


@pytest.mark.parametrize("cut", [1, 1 << 20])
@every("version", VERSIONS)
def test_a_mixed_list(version: int, cut: int) -> None:
    """The broker does not hear of hosted groups with members; empty ones are deleted at both."""
    admin = Admin(Broker(groups={"theirs": "Empty", "live": "Stable", "mine": "Empty", "mine-empty": "Empty"}))
    admin.hosting.stable("mine", "a")
    for name in ("mine-empty", "mine-new"):
        admin.hosting.empty(name)
    names = ("theirs", "mine", "live", "mine-empty", "mine-new", "mine-nobody", "nobody")
    assert deleted(admin, version, *names, cut=cut) == {
        "theirs": 0,
        "live": ErrorCode.NON_EMPTY_GROUP,
        "mine-empty": 0,
        "mine-new": 0,
        "mine-nobody": ErrorCode.GROUP_ID_NOT_FOUND,
        "nobody": ErrorCode.GROUP_ID_NOT_FOUND,
        "mine": ErrorCode.NON_EMPTY_GROUP,
    }
    assert sent(admin) == [(15, ["mine"]), (42, [one for one in names if one != "mine"])]
    assert set(admin.hosting.coordinator.groups) == {"mine"}
    assert set(admin.broker_on_paper.groups) == {"live", "mine"}


@pytest.mark.parametrize("version", VERSIONS)
def test_only_hosted_groups_with_members(version: int) -> None:
    """The broker is asked who may delete them, and nothing else; each has one result, however often it is named."""
    admin = Admin(Broker(groups={"mine": "Empty"}))
    admin.hosting.stable("mine", "a")
    admin.hosting.joining("mine-new", "a")
    expected = {"mine": ErrorCode.NON_EMPTY_GROUP, "mine-new": ErrorCode.NON_EMPTY_GROUP}
    assert deleted(admin, version, "mine", "mine-new", "mine") == expected
    assert sent(admin) == [(15, ["mine", "mine-new"])]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_group_that_is_named_twice(version: int) -> None:
    """It is deleted once."""
    admin = Admin(Broker(groups={"mine-empty": "Empty"}))
    admin.hosting.empty("mine-empty")
    assert deleted(admin, version, "mine-empty", "mine-empty") == {"mine-empty": 0}
    assert admin.hosting.coordinator.groups == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_principal_that_may_not(version: int) -> None:
    """It is told so, of groups with members too, and kproxy keeps its groups."""
    admin = Admin(Broker(groups={"mine-empty": "Empty"}, operations=ALL & ~DELETE))
    admin.broker_on_paper.errors = {"mine-empty": 30, "mine-secret": 30, "mine-there": 16}
    admin.hosting.empty("mine-empty")
    for name in ("mine", "mine-secret", "mine-there"):
        admin.hosting.stable(name, "a")
    names = ("mine", "mine-empty", "mine-secret", "mine-there")
    assert deleted(admin, version, *names) == {"mine": 30, "mine-empty": 30, "mine-secret": 30, "mine-there": 16}
    assert set(admin.hosting.coordinator.groups) == set(names)
    assert sent(admin) == [(15, ["mine", "mine-secret", "mine-there"]), (42, ["mine-empty"])]


def test_a_first_answer_that_makes_no_sense() -> None:
    """The group stays, and the client may try again."""
    admin = Admin(Broker(unreadable=frozenset({0})))
    admin.hosting.stable("mine", "a")
    assert deleted(admin, 2, "mine", "nobody") == {"mine": ErrorCode.COORDINATOR_NOT_AVAILABLE, "nobody": 69}


@pytest.mark.parametrize("refuses", [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR])
def test_a_coordinator_that_refuses(refuses: int) -> None:
    """No hosted group reaches the broker while it is not known whether it has members."""
    admin = Admin(Broker(groups={"mine": "Empty", "theirs": "Empty"}))
    admin.hosting.coordinator.refuses = refuses
    assert deleted(admin, 2, "mine", "theirs") == {"mine": refuses, "theirs": 0}
    assert set(admin.broker_on_paper.groups) == {"mine"}


def test_a_member_that_joins_meanwhile() -> None:
    """Its group stays: the answer says so, although its offsets are gone."""
    admin = Admin(Broker(groups={"mine": "Empty"}))
    admin.hosting.empty("mine")
    admin.feed("client", encoded(DeleteGroupsRequest(["mine"]), 1))
    admin.hosting.stable("mine", "a")
    admin.run()
    (result,) = DeleteGroupsResponse.decode(bytes(admin.client.data)[8:], 1).results
    assert result.error_code == ErrorCode.NON_EMPTY_GROUP
    assert "mine" in admin.hosting.coordinator.groups


def test_a_group_that_is_gone_meanwhile() -> None:
    """The broker's word counts."""
    admin = Admin(Broker(groups={"mine": "Empty"}))
    admin.hosting.empty("mine")
    admin.feed("client", encoded(DeleteGroupsRequest(["mine"]), 1))
    admin.feed("broker", admin.broker_on_paper.answer(bytes(admin.broker.data)))
    admin.broker.data.clear()
    admin.hosting.coordinator.delete("mine", admin.hosting.now)
    admin.run()
    (result,) = DeleteGroupsResponse.decode(bytes(admin.client.data)[8:], 1).results
    assert result.error_code == 0


@every("version", VERSIONS)
@pytest.mark.parametrize("groups", [[], ["theirs", "mine-nobody"]])
def test_requests_without_a_hosted_group_pass(version: int, groups: list[str]) -> None:
    """The request goes on byte by byte, and the response is not held."""
    admin = Admin()
    admin.hosting.stable("mine", "a")
    frame = encoded(DeleteGroupsRequest(groups), version)
    admin.feed("client", frame)
    response = admin.broker_on_paper.answer(frame)
    admin.feed("broker", response)
    assert (bytes(admin.broker.data), bytes(admin.client.data)) == (frame, response)


def test_thousands_of_groups() -> None:
    """They are asked for in parts, and deleted in steps."""
    admin = Admin(Broker(groups={f"mine-{number}": "Empty" for number in range(1000)}))
    for number in range(2000):
        admin.hosting.empty(f"mine-{number}")
    for number in range(500):
        admin.hosting.stable(f"mine-live-{number}", "a")
    names = list(admin.hosting.coordinator.groups)
    assert deleted(admin, 2, *names) == {name: 68 if "live" in name else 0 for name in names}
    assert [(key, len(some)) for key, some in sent(admin)] == [(15, 200), (15, 200), (15, 100), (42, 2000)]
    assert admin.steps_taken > 20


def test_too_many_groups() -> None:
    """A request with a million names ends the connection before any of them is looked at."""
    admin = Admin()
    admin.feed("client", encoded(DeleteGroupsRequest(["mine"] * (MOST_GROUPS + 1)), 2))
    assert (admin.reason, bytes(admin.broker.data)) == (Reason.FRAME_TOO_LARGE, b"")
