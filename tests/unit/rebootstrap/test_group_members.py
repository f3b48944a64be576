"""Which members a connection has, as its requests say: what is noted, what is not, and how much at most."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.protocol.api_table import ApiTable
from kproxy.protocol.composition import Room, compose
from kproxy.protocol.context import MAX_NAME
from kproxy.rebootstrap import group_members
from kproxy.rebootstrap.group_members import MOST_GROUPS, SWEPT_AFTER, GroupMembers, policies
from kproxy.wire.generated.api_keys import ApiKey
from tests.support.every import every
from tests.unit.relay import frames
from tests.unit.relay.flows import Cluster, Relay

JOIN, SYNC, HEARTBEAT, LEAVE = ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT, ApiKey.LEAVE_GROUP
NAMING = [(key, version) for key in (JOIN, SYNC, HEARTBEAT) for version in frames.versions(key)]
FIRST = 1
"""The connection's id."""


class Seen:
    """A connection whose requests are looked at; `members` are those that they name."""

    def __init__(self) -> None:
        self.members = GroupMembers(lambda: {FIRST})
        cluster = Cluster()
        table = ApiTable(cluster.counters, compose([Room("members", policies(self.members))]))
        self.relay = Relay(cluster, table=table)
        self.relay.context.id = FIRST
        self._number = 0

    def request(self, key: int, version: int, group: str = "g", member: str = "", **content: Any) -> bytes:
        """Return the next request of a member."""
        self._number += 1
        fields = {"GroupId": group, "MemberId": member, **content}
        if key == LEAVE and version >= 3:
            fields["Members"] = [{"MemberId": fields.pop("MemberId")}]
        return frames.request(key, version, self._number, fields)

    def send(self, key: int, version: int, group: str = "g", member: str = "", **content: Any) -> None:
        """Send a request, which must come out as it is."""
        before = len(self.relay.broker.data)
        data = self.request(key, version, group, member, **content)
        self.relay.feed("client", data)
        assert (self.relay.reason, bytes(self.relay.broker.data[before:])) == (None, data)


def knows(members: GroupMembers, connection: int) -> bool:
    """Whether a member is noted of a connection."""
    return connection in members._of


@every(("key", "version"), NAMING)
def test_a_member_is_noted(key: int, version: int) -> None:
    """JoinGroup, SyncGroup and Heartbeat name group and member, in every version."""
    seen = Seen()
    seen.send(key, version, "grüße", "consumer-1")
    assert seen.members.take() == {"grüße": ["consumer-1"]}


@pytest.mark.parametrize(("key", "first"), [(JOIN, 5), (SYNC, 3), (HEARTBEAT, 3)])
def test_a_static_member_is_noted(key: int, first: int) -> None:
    """In every version that has instance ids: at a failback its instance would be fenced."""
    for version in frames.versions(key, first):
        seen = Seen()
        seen.send(key, version, member="m", GroupInstanceId="i")
        assert seen.members.take() == {"g": ["m"]}


@every("version", frames.versions(JOIN))
def test_who_joins_without_an_id_is_no_member_yet(version: int) -> None:
    """A client that has lost its membership has no member until it has a new id."""
    seen = Seen()
    seen.send(JOIN, version, member="old")
    seen.send(JOIN, version)
    assert len(seen.members) == 0
    seen.send(SYNC, 0, member="new")
    assert seen.members.take() == {"g": ["new"]}


@every("version", frames.versions(LEAVE))
def test_who_leaves_is_forgotten(version: int) -> None:
    """In every version, and only in that group."""
    seen = Seen()
    seen.send(SYNC, 0, "g", "m")
    seen.send(SYNC, 0, "other", "n")
    seen.send(LEAVE, version, "g", "m")
    assert seen.members.take() == {"other": ["n"]}


def test_a_heartbeat_counts_where_it_names_another_member() -> None:
    """A member that connected anew goes on with heartbeats; franz-go's next id is first seen there, too."""
    seen = Seen()
    seen.send(HEARTBEAT, 4, member="member-1")
    seen.send(HEARTBEAT, 4, member="member-1")
    assert len(seen.members) == 1
    seen.send(HEARTBEAT, 4, member="member-2")
    assert seen.members.take() == {"g": ["member-2"]}


@every(("key", "version"), [*NAMING, (LEAVE, 0), (LEAVE, 5)])
def test_a_request_in_pieces_passes(key: int, version: int) -> None:
    """Wherever it is cut, it comes out as it is, and no name is cut."""
    size = len(Seen().request(key, version, "group", "member"))
    for cut in range(1, size):
        seen = Seen()
        data = seen.request(key, version, "group", "member")
        for piece in (data[:cut], data[cut:]):
            seen.relay.feed("client", piece)
        assert (seen.relay.reason, bytes(seen.relay.broker.data)) == (None, data)
        assert seen.members.take() in ({}, {"group": ["member"]})


def test_what_is_no_text_passes() -> None:
    """The broker refuses it; kproxy does not."""
    seen = Seen()
    data = seen.request(SYNC, 0, "group", "member")
    for wrong in (data.replace(b"group", b"gro\xff\xff"), data.replace(b"member", b"mem\xff\xff\xff")):
        other = Seen()
        other.relay.feed("client", wrong)
        assert (other.relay.reason, bytes(other.relay.broker.data)) == (None, wrong)
        assert len(other.members) == 0


def test_a_header_with_tags_is_read() -> None:
    """Kafka has none so far."""
    plain = Seen().request(SYNC, 5, "group", "member")
    at = 14  # behind size, api key, version, correlation id and a client id of no bytes
    client_id = int.from_bytes(plain[12:14], "big", signed=True)
    at += max(client_id, 0)
    assert plain[at] == 0
    tagged = plain[:at] + b"\x01\x07\x02ab" + plain[at + 1 :]
    data = (len(tagged) - 4).to_bytes(4, "big") + tagged[4:]
    seen = Seen()
    seen.relay.feed("client", data)
    assert seen.members.take() == {"group": ["member"]}
    broken = Seen()
    wrong = plain[:at] + b"\xff\xff\xff\xff\xff" + plain[at + 1 :]
    broken.relay.feed("client", (len(wrong) - 4).to_bytes(4, "big") + wrong[4:])
    assert (broken.relay.reason, len(broken.members)) == (None, 0)


def test_members_of_one_group_and_connections_that_ended() -> None:
    """Those of live connections are taken by group, each once; taking forgets all."""
    members = GroupMembers(lambda: [2, 3, 4])
    for connection, member in ((1, "a"), (2, "b"), (3, "c"), (4, "c")):
        members.note(connection, "g", member)
    members.note(2, "h", "x")
    assert members.take() == {"g": ["b", "c"], "h": ["x"]}
    assert (len(members), members.take(), knows(members, 2)) == (0, {}, False)


def test_a_new_id_replaces_the_old_one() -> None:
    """Of one connection and group; it takes no more room."""
    members = GroupMembers(lambda: [1], capacity=1)
    members.note(1, "g", "a")
    members.note(1, "g", "b")
    assert (len(members), members.take()) == (1, {"g": ["b"]})


def test_what_is_not_there_is_forgotten_without_a_trace() -> None:
    """Neither an unknown group nor an unknown connection changes the count."""
    members = GroupMembers(lambda: [1])
    members.note(1, "g", "a")
    members.forget(1, "h")
    members.forget(2, "g")
    assert (len(members), knows(members, 1), knows(members, 2)) == (1, True, False)
    members.forget(1, "g")
    assert (len(members), knows(members, 1)) == (0, False)


def test_a_connection_has_a_few_groups() -> None:
    """Beyond them the oldest is forgotten."""
    members = GroupMembers(lambda: [1])
    for number in range(MOST_GROUPS + 1):
        members.note(1, f"g{number}", "m")
    assert (len(members), list(members.take())) == (MOST_GROUPS, [f"g{n}" for n in range(1, MOST_GROUPS + 1)])


@pytest.mark.parametrize(("group", "member"), [("g" * (MAX_NAME + 1), "m"), ("g", "m" * (MAX_NAME + 1))])
def test_a_long_name_is_not_kept(group: str, member: str) -> None:
    """A client could have kproxy hold 64 KiB for each of its connections."""
    members = GroupMembers(lambda: [1])
    members.note(1, group, member)
    assert (len(members), knows(members, 1)) == (0, False)
    members.note(1, "g" * MAX_NAME, "m" * MAX_NAME)
    members.note(1, "g" * MAX_NAME, "n" * (MAX_NAME + 1))
    assert members.take() == {}


def test_there_is_room_for_so_many_and_connections_that_end_make_room() -> None:
    """Newcomers beyond the capacity are not noted; after a while those of ended connections have gone."""
    live = {1}
    members = GroupMembers(lambda: live, capacity=2)
    for connection in (1, 2, 3):
        members.note(connection, "g", f"m{connection}")
    assert (len(members), knows(members, 3)) == (2, False)
    live.add(3)
    for _ in range(SWEPT_AFTER):
        members.note(3, "g", "m3")
    assert (len(members), members.take()) == (2, {"g": ["m1", "m3"]})


def test_a_search_for_ended_connections_is_as_rare_as_members_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes as long as there are members, so it comes after as many have been noted."""
    monkeypatch.setattr(group_members, "SWEPT_AFTER", 2)
    searches: list[int] = []

    def live() -> range:
        searches.append(len(searches))
        return range(64)

    members = GroupMembers(live)
    for connection in range(64):
        members.note(connection, "g", "m")
    assert len(searches) == 6
    assert len(members) == 64


@every(
    "key",
    [
        *(JOIN, SYNC, HEARTBEAT, ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT),
        *(ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH),
    ],
)
def test_a_connection_to_a_coordinator_is_known(key: int) -> None:
    """By whatever a member asks there, also of a group whose members are not noted."""
    seen = Seen()
    assert not seen.relay.context.is_member
    version = frames.versions(key)[-1]
    seen.relay.feed("client", frames.request(key, version, 1, {}))
    assert seen.relay.context.is_member
