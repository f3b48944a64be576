"""kproxy.admin.slots: which connection gives up its place, and which pages are kept for slow readers."""

from __future__ import annotations

import pytest

from kproxy.admin.slots import HeldPages, Slot, Slots

GRACE = 0.5


class Ended(list[str]):
    """The names of the connections that were ended, in order."""

    def enter(self, slots: Slots, name: str, share: str = "a", now: float = 0.0) -> Slot:
        assert slots.room_in(now) == 0.0
        return slots.enter(share, lambda: self.append(name), now)

    def served(self, slots: Slots, name: str, share: str = "a") -> Slot:
        """A connection whose first request was answered."""
        slot = self.enter(slots, name, share)
        slots.wait(slot)
        return slot


def test_slots_are_given_back() -> None:
    """As many as the limit at once, and again after they were left."""
    slots, ended = Slots(2, GRACE), Ended()
    for _ in range(3):
        held = [ended.enter(slots, name) for name in "xy"]
        for slot in held:
            slots.leave(slot)
            slots.leave(slot)
    assert ended == []


def test_a_handshake_goes_on() -> None:
    """Nobody ends it while kproxy has a part to look at; then it is behind the others, and kept for a while."""
    slots, ended = Slots(2, GRACE), Ended()
    first, second = (ended.enter(slots, name) for name in "12")
    slots.protect(first, GRACE)
    slots.resume(first, 4 * GRACE)
    ended.enter(slots, "3", now=GRACE)
    assert (ended, first.fresh) == (["2"], True)
    slots.resume(second, 9 * GRACE)
    assert slots.room_in(2 * GRACE - 0.01) == pytest.approx(0.01)
    ended.enter(slots, "4", now=2 * GRACE)
    assert ended == ["2", "3"]


def test_a_slow_handshake_makes_no_progress() -> None:
    """Its place in the order stays."""
    slots, ended = Slots(2, GRACE), Ended()
    first, _ = (ended.enter(slots, name) for name in "12")
    slots.slow(first)
    slots.resume(first, 9 * GRACE)
    ended.enter(slots, "3")
    assert ended == ["1"]


def test_a_slow_handshake_that_was_looked_at() -> None:
    """It may be ended from then on."""
    slots, ended = Slots(2, GRACE), Ended()
    first = ended.enter(slots, "1")
    slots.protect(first, GRACE)
    slots.slow(first)
    ended.enter(slots, "2")
    assert slots.room_in(0.0) > 0.0
    slots.resume(first, 9 * GRACE)
    ended.enter(slots, "3")
    assert ended == ["1"]


def test_the_one_that_waits_longest_leaves() -> None:
    """A newcomer takes its place; one that made progress is behind the others."""
    slots, ended = Slots(3, GRACE), Ended()
    first, _, _ = (ended.served(slots, name) for name in "123")
    slots.wait(first)
    for name in "4567":
        ended.served(slots, name)
    assert ended == ["2", "3", "1", "4"]
    assert slots.evicted == 4


def test_a_new_one_has_a_moment() -> None:
    """Others wait as long; then it leaves as one whose head is slow. One that was served leaves at once."""
    slots, ended = Slots(2, GRACE), Ended()
    slow = ended.enter(slots, "slow", now=10.0)
    ended.enter(slots, "silent", now=10.1)
    assert 0 < slots.room_in(10.2) < GRACE - 0.2
    assert not slots.evict(10.2)
    assert 0 < slots.room_in(10.4999) < 0.01
    ended.enter(slots, "next", now=10.5)
    assert ended == ["slow"]
    assert slow.ended
    slots.wait(ended.enter(slots, "last", now=10.7))
    assert slots.room_in(10.8) == 0.0
    assert slots.evict(10.8)
    assert ended == ["slow", "silent", "last"]


def test_a_slow_head_has_no_moment() -> None:
    """It leaves before those of which nothing has come yet, however new it is; its bytes are no progress."""
    slots, ended = Slots(3, GRACE), Ended()
    ended.enter(slots, "silent")
    slow, slower = ended.enter(slots, "slow"), ended.enter(slots, "slower")
    for slot in (slow, slower, slow):
        slots.slow(slot)
    ended.enter(slots, "probe")
    assert ended == ["slow"]


def test_the_share_that_has_most_gives() -> None:
    """A host with ninety connections does not push out another host's only one, however old that is."""
    slots, ended = Slots(4, GRACE), Ended()
    ended.served(slots, "victim", "192.0.2.1")
    for number in range(90):
        ended.served(slots, str(number), "192.0.2.66")
    assert "victim" not in ended
    assert len(ended) == 87


def test_nobody_is_ended_while_a_handler_works_for_it() -> None:
    """With all at work there is no room; it is there again when one waits for its client to read."""
    slots, ended = Slots(2, GRACE), Ended()
    one, two = ended.served(slots, "one"), ended.served(slots, "two")
    assert slots.work(one)
    assert slots.work(two)
    assert 0 < slots.room_in(99.0) < 0.1
    assert not slots.evict(99.0)
    slots.wait(two)
    ended.served(slots, "three")
    assert ended == ["two"]


def test_the_first_request_is_answered() -> None:
    """Nobody ends its connection meanwhile; a later request has no such right. Of all at once, the last has a while."""
    slots, ended = Slots(4, GRACE), Ended()
    held = [ended.enter(slots, str(number)) for number in range(4)]
    for slot in held:
        slots.protect(slot, 3 * GRACE)
    assert [slots.room_in(now) > 0 for now in (0.0, GRACE, 2.9 * GRACE, 3 * GRACE)] == [True, True, True, False]
    ended.enter(slots, "new", now=9.0)
    assert ended == ["3"]
    slots.wait(held[0])
    slots.protect(held[0], 99.0)
    ended.enter(slots, "newer", now=9.1)
    assert ended == ["3", "0"]


def test_one_that_was_ended_does_not_begin_to_work() -> None:
    """Its task may still run for a moment: it begins no command, and takes no place in the order again."""
    slots, ended = Slots(1, GRACE), Ended()
    gone = ended.served(slots, "gone")
    newcomer = ended.served(slots, "newcomer")
    assert not slots.work(gone)
    slots.wait(gone)
    slots.end(gone)
    slots.leave(gone)
    ended.served(slots, "next")
    assert ended == ["gone", "newcomer"]
    assert newcomer.ended


def test_pages_that_nobody_takes_make_room_for_newer_ones() -> None:
    """At most the limit, whoever waits; a page that many take at once counts once."""
    slots, ended = Slots(100, GRACE), Ended()
    held = HeldPages(100, slots)
    pages = [bytes([number]) * 40 for number in range(4)]
    takers = [[ended.enter(slots, f"{number}{name}") for name in "ab"] for number in range(4)]
    for page, both in zip(pages[:2], takers, strict=False):
        for slot in both:
            held.hold(page, slot)
    assert (held.bytes, ended) == (80, [])
    held.hold(pages[2], takers[2][0])
    assert held.bytes == 80
    assert sorted(ended) == ["0a", "0b"]
    held.release(pages[0], takers[0][0])
    held.release(pages[1], takers[1][0])
    assert held.bytes == 80
    held.release(pages[1], takers[1][1])
    assert held.bytes == 40


def test_one_page_may_be_larger() -> None:
    """Otherwise a large fleet's page could never be had."""
    slots, ended = Slots(100, GRACE), Ended()
    held = HeldPages(100, slots)
    held.hold(bytes(70), ended.enter(slots, "small"))
    page, slot = bytes(200), ended.enter(slots, "large")
    held.hold(page, slot)
    assert (held.bytes, ended) == (200, ["small"])
    held.release(page, slot)
    assert held.bytes == 0
