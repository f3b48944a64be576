"""kproxy.demo.tally: lost and duplicate records are found."""

from __future__ import annotations

from collections.abc import Iterable

from kproxy.demo.tally import Tally, Verdict, compare


def tally(numbers: Iterable[int]) -> Tally:
    """Return a tally of these numbers."""
    made = Tally()
    for number in numbers:
        made.see(number)
    return made


def test_all_arrived_once() -> None:
    """The records are spread over two members, out of order."""
    assert compare(tally(range(5)), [tally([4, 0]), tally([3, 1, 2])]) == Verdict(5, 5, lost=0, duplicates=0)


def test_nothing_at_all() -> None:
    """There are no records and no members."""
    assert compare(Tally(), []) == Verdict(0, 0, lost=0, duplicates=0)


def test_a_lost_record() -> None:
    """Only acknowledged records can be lost: number 3 was not acknowledged."""
    assert compare(tally([0, 1, 2]), [tally([0, 2])]) == Verdict(3, 2, lost=1, duplicates=0)


def test_duplicates_within_and_across_members() -> None:
    """Record 0 came to both members, record 1 came three times to one."""
    assert compare(tally([0, 1]), [tally([0, 1, 1, 1]), tally([0])]) == Verdict(2, 5, lost=0, duplicates=3)


def test_a_record_beyond_the_first_chunk() -> None:
    """Numbers have no upper limit; the count of an unseen number is zero."""
    seen = tally([200_000])
    assert (seen.count(200_000), seen.count(199_999), seen.count(10**9)) == (1, 0, 0)


def test_a_count_stops_at_255() -> None:
    """A count takes one byte; the total continues."""
    often = tally([0] * 300)
    assert (often.count(0), often.total) == (255, 300)
