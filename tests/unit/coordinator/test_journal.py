"""kproxy.coordinator.journal and records: what is written of a group, when, and the journal that keeps nothing."""

from __future__ import annotations

import pytest

from kproxy.coordinator.journal import Forgetful
from kproxy.coordinator.records import GroupRecord, MemberRecord, decode, encode
from tests.unit.coordinator.world import RANGE, World


def test_a_journal_that_keeps_nothing_is_done_at_once() -> None:
    """With no failure, and with the time that it was given."""
    done: list[tuple[str | None, float]] = []
    Forgetful().write("g", GroupRecord("g", 1), lambda *result: done.append(result), 5.0)
    Forgetful().write("g", None, lambda *result: done.append(result), 6.0)
    assert done == [(None, 5.0), (None, 6.0)]


def test_what_is_written_of_a_group() -> None:
    """The generation when all have joined, the assignments before any sync is answered, the end, and no more."""
    world = World()
    (one,) = world.clients("one", instance_id="i")
    world.stable(one)
    one.heartbeat(), one.sync()
    before = MemberRecord(one.member_id, "i", "one", "/10.0.0.1", 10.0, 60.0, RANGE)
    assigned = MemberRecord(one.member_id, "i", "one", "/10.0.0.1", 10.0, 60.0, RANGE, one.assigned(one.member_id))
    joined = GroupRecord("g", 1, "consumer", "range", one.member_id, False, (before,))
    synced = GroupRecord("g", 1, "consumer", "range", one.member_id, True, (assigned,))
    assert world.journal.written == [joined, synced]
    one.leave()
    world.wait(600)
    assert world.journal.written[2:] == [GroupRecord("g", 2, "consumer"), None]


def test_an_id_that_was_only_given_out_is_not_written() -> None:
    """A client that asks for an id and is never seen again costs the journal nothing."""
    world = World()
    (one,) = world.clients("one")
    one.ask()
    world.wait(20)
    assert (world.coordinator.groups, world.journal.written) == ({}, [])


def test_a_record_survives_its_bytes() -> None:
    """Names, bytes, and what is missing, of a generation before and after its assignments."""
    member = MemberRecord("a-1", "i", "ä", "/::1", 10.5, 60.0, (("range", b"\0\xff"), ("other", b"")), b"\1\2")
    plain = MemberRecord("b-1", None, "", "", 6.0, 6.0, (), b"")
    for record in (GroupRecord("g", 0), GroupRecord("g", 7, "consumer", "range", "a-1", True, (member, plain))):
        assert decode("g", encode(record)) == record


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"[]",
        b"{}",
        encode(GroupRecord("other", 1)),
        encode(GroupRecord("g", 1)).replace(b'"version": 1', b'"version": 2'),
        encode(GroupRecord("g", 1)).replace(b'"generation"', b'"generations"'),
        encode(GroupRecord("g", 1)).replace(b'"members": []', b'"members": [{"id": "a"}]'),
    ],
)
def test_what_is_no_record(value: bytes) -> None:
    """It raises, so that `restored` moves it aside."""
    with pytest.raises((ValueError, KeyError, TypeError)):
        decode("g", value)
