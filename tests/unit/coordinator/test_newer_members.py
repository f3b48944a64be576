"""kproxy.coordinator.newer_members: who is a member at a broker, in bounded memory."""

from __future__ import annotations

from kproxy.coordinator.newer_members import SESSION, NewerMembers


def test_a_member_is_there_until_it_leaves_or_its_session_ends() -> None:
    """Each heartbeat begins its session anew; members and groups are apart."""
    members = NewerMembers()
    members.heard("a", "one", 0.0)
    members.heard("a", "two", SESSION - 1)
    assert members.any_of("a", SESSION + 1)
    assert not members.any_of("b", 0.0)
    members.gone("a", "two")
    assert members.any_of("a", SESSION - 1)
    assert not members.any_of("a", SESSION)
    members.gone("a", "two")  # again
    members.gone("b", "one")
    assert len(members) == 1


def test_who_is_gone_is_forgotten() -> None:
    """Once in a session's time those are dropped whose sessions are over."""
    members = NewerMembers()
    for number in range(1000):
        members.heard(f"group-{number % 7}", f"member-{number}", 100.0)
    members.heard("lasting", "one", 100.0 + SESSION / 2)
    assert len(members) == 1001
    members.heard("new", "one", 100.0 + SESSION)
    assert len(members) == 2
    assert members.any_of("lasting", 100.0 + SESSION)


def test_memory_is_bounded() -> None:
    """When it is full, newcomers are not noted, and those that are noted go on."""
    members = NewerMembers(capacity=2)
    for name in ("one", "two", "three"):
        members.heard(name, name, 0.0)
    members.heard("one", "one", 20.0)
    assert (len(members), members.any_of("three", 0.0), members.any_of("one", SESSION + 1)) == (2, False, True)
    members.gone("two", "two")
    members.heard("three", "three", 20.0)
    assert members.any_of("three", 20.0)
