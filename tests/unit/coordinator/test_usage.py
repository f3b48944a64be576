"""kproxy.coordinator.usage: whatever clients do, what groups hold is bounded, and given back."""

from __future__ import annotations

import pytest

from kproxy.coordinator import coordinator as module
from kproxy.coordinator import usage
from kproxy.coordinator.settings import GroupSettings
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.coordinator.world import DELAY, RANGE, World


def nothing_held(world: World) -> bool:
    """Whether all was given back."""
    return (world.coordinator.usage.bytes, world.coordinator.usage.pending) == (0, 0)


def test_ten_thousand_members_that_join_and_vanish() -> None:
    """Each with protocols of its own: neither names nor timers of them stay."""
    world = World(GroupSettings(initial_rebalance_delay=DELAY, max_session_timeout=1800))
    (lasting,) = world.clients("lasting", session=1800.0)
    world.stable(lasting)
    held = world.coordinator.usage.bytes
    for number in range(10_000):
        (client,) = world.clients(f"c{number}", session=1800.0, protocols=(*RANGE, (f"own-{number}", b"m")))
        client.join()
        client.leave()
    assert len(world.group.members) == 1
    assert len(world.group._supporters) == 1
    assert len(world.timers._queue) < 5_000
    assert (world.coordinator.usage.bytes, world.coordinator.usage.pending) == (held, 0)


def test_what_is_held_is_counted() -> None:
    """Metadata and assignments, as members come, change and go; nothing is left when the group is forgotten."""
    world = World()
    one, two = world.clients("one", "two")
    world.stable(one, two)
    assert world.coordinator.usage.bytes == 2 * usage.size_of(RANGE) + sum(
        len(member.assignment) for member in world.group.members.values()
    )
    one.ask(protocols=(("range", b"x" * 1000),))
    assert world.coordinator.usage.bytes > 1000
    assert world.leave((one.member_id, None), (two.member_id, None)) == [0, 0]
    world.wait(10_000)
    assert world.coordinator.groups == {}
    assert nothing_held(world)


def test_ids_that_were_given_out_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more is refused (44), until some have ended."""
    monkeypatch.setattr(module, "MOST_PENDING", 3)
    world = World()
    for client in world.clients("a", "b", "c"):
        assert client.ask().error == ErrorCode.MEMBER_ID_REQUIRED
    (late,) = world.clients("late")
    assert late.ask().error == ErrorCode.POLICY_VIOLATION
    world.wait(20)
    assert nothing_held(world)
    assert late.ask().error == ErrorCode.MEMBER_ID_REQUIRED


def test_bytes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """New members and groups are refused (44); those that are there go on, but for assignments that are too large."""
    monkeypatch.setattr(usage, "MOST_BYTES", 100)
    world = World()
    (one,) = world.clients("one", protocols=(("range", b"x" * 80),))
    world.stable(one)
    (two,) = world.clients("two", protocols=(("range", b"x" * 80),))
    assert two.ask().error == ErrorCode.POLICY_VIOLATION
    assert two.ask(group_id="other").error == ErrorCode.POLICY_VIOLATION
    one.protocols = (("range", b"y" * 80),)
    assert one.join().error == 0
    assert one.ask(protocols=(("range", b"y" * 200),)).error == ErrorCode.POLICY_VIOLATION, "it may stay, not grow"
    assert one.ask(protocols=(("range", b"y" * 80),)).error == 0
    assert one.sync({one.member_id: b"z" * 80}).error == ErrorCode.POLICY_VIOLATION
    assert one.sync({one.member_id: b"z" * 10}).error == 0


def test_groups_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more is refused (44); a group that nobody has joined is soon forgotten."""
    monkeypatch.setattr(module, "MOST_GROUPS", 2)
    world = World()
    clients = [world.clients("c", group_id=f"g{number}")[0] for number in range(3)]
    assert [client.ask().error for client in clients] == [79, 79, ErrorCode.POLICY_VIOLATION]
    world.wait(20)
    assert clients[2].ask().error == ErrorCode.MEMBER_ID_REQUIRED
