"""What a single occurrence proves against kproxy, and checks for it. A test that found it is not run a second time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")
_MOST: Final = 10
"""How many records are named in a message."""
_BEFORE: Final = 500
_LENGTH: Final = 8000


class Violation(AssertionError):
    """A record lost or doubled, a secret or a broker's address shown, a traceback logged, a partition's second owner.

    However seldom it happens, it is a fault; anything else that fails may be the machine's, or a client's.
    """


def never(happened: bool, what: str) -> None:
    """Raise where it happened all the same; `what` is the message, and holds no secret."""
    if happened:
        raise Violation(what)


def check_once(acknowledged: Iterable[T], found: Iterable[T], what: str = "records") -> None:
    """Each that was acknowledged was found, and nothing was found twice: for what was read from the log itself."""
    counts = Counter(found)
    _none("lost", [one for one in acknowledged if not counts[one]], what)
    _none("doubled", [one for one, count in counts.items() if count > 1], what)


def check_read(acknowledged: Iterable[T], read: Collection[T], what: str = "records") -> None:
    """Each that was acknowledged was read by the members of a group.

    A group may read some twice, after a rebalance on a slow machine: that proves nothing. A reader that ends after so
    many records has not come to the last ones then, which proves no more.
    """
    if len(set(read)) == len(read):
        check_once(acknowledged, read, what)


def check_whole(compared: Mapping[str, int], what: str = "records") -> None:
    """`check_read` of what a client has compared itself (tests/support/clients/records.py)."""
    never(bool(compared["missing"]) and not compared["duplicates"], f"{what} lost: {compared}")


def check_written(acknowledged: int, ends: Mapping[int, int], what: str = "records") -> None:
    """The log's partitions have as many records as were acknowledged, where nothing failed and nothing was there."""
    written = sum(ends.values())
    never(written != acknowledged, f"{what} lost or doubled: {acknowledged} acknowledged, {written} in the log")


def check_log(log: Path) -> None:
    """No traceback is in kproxy's log; one that was never begun has none."""
    text = log.read_text(errors="replace") if log.exists() else ""
    at = text.find("Traceback")
    begin = max(0, at - _BEFORE)
    never(at >= 0, f"a traceback in kproxy's log {log}:\n{text[begin : begin + _LENGTH]}")


def check_behind(error: BaseException | None, check: Callable[[], object]) -> None:
    """Check at an end, also where something has failed: a violation, if there is one, is what counts then."""
    if isinstance(error, (Violation, KeyboardInterrupt)):
        return
    try:
        check()
    except Violation as violation:
        if error is None:
            raise
        raise violation from error


@contextmanager
def checking(check: Callable[[], object]) -> Iterator[None]:
    """`check_behind` at the end of a block."""
    try:
        yield
    except BaseException as error:
        check_behind(error, check)
        raise
    check()


def _none(how: str, which: list[T], what: str) -> None:
    more = f" and {len(which) - _MOST} more" * (len(which) > _MOST)
    never(bool(which), f"{what} {how}: {which[:_MOST]}{more}")
