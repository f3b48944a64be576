# This module is pure.
"""Whether something upstream answers, since when, and why not."""

from __future__ import annotations

from typing import NamedTuple


class Reachability(NamedTuple):
    """`since` is the moment (Trio's clock, seconds) of the last change between reachable and not."""

    ok: bool
    since: float
    error: str | None = None


def observed(previous: Reachability | None, error: str | None, now: float) -> Reachability:
    """The state after one more attempt; `error` None means that it succeeded. The newest reason is kept."""
    ok = error is None
    since = previous.since if previous is not None and previous.ok == ok else now
    return Reachability(ok, since, error)


def flipped(previous: Reachability | None, current: Reachability) -> bool:
    """Whether a listener must hear of it: the first observation, or a change between reachable and not."""
    return previous is None or previous.ok != current.ok
