"""Tries several ways to the same end, each a moment after the one before, and takes the first that succeeds.

`kproxy.upstream.dial` has the addresses of a name race each other (RFC 8305, "happy eyeballs"), the relay's
`broker_dial` the bootstrap servers of a cluster: one that drops packets costs a moment, not the whole deadline.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

import trio

Way = TypeVar("Way")
Result = TypeVar("Result")
Failure = TypeVar("Failure", bound=Exception)


class NobodyError(Exception, Generic[Failure]):
    """Every way has failed; `errors` says why, in the order in which they failed."""

    def __init__(self, errors: Sequence[Failure]) -> None:
        super().__init__(*errors)
        self.errors = errors


async def first_of(
    ways: Sequence[Way],
    go: Callable[[Way], Awaitable[Result]],
    delay: float,
    *,
    failure: type[Failure],
    discard: Callable[[Result], object],
    growth: float = 1.0,
) -> Result:
    """Return the first result of `go`, at least for one way; raise `NobodyError` when all have raised `failure`.

    A way is begun when another has failed, and `delay` seconds after the last one was begun; that time grows by the
    factor `growth` with each. The others are cancelled once there is a result. One that comes too late, or when the
    caller has been cancelled, goes to `discard`. What else `go` raises comes in an ExceptionGroup, unless there is one
    way only.
    """
    if len(ways) == 1:  # no race: a nursery is a good part of what a client's connection costs
        try:
            return await go(ways[0])
        except failure as error:
            raise NobodyError([error]) from error
    errors: list[Failure] = []
    results: list[Result] = []
    ended = trio.Event()

    async def attempt(way: Way) -> None:
        try:
            results.append(await go(way))
            if len(nursery.child_tasks) > 1:  # the first way mostly has nobody to cancel, which costs as much as a dial
                nursery.cancel_scope.cancel()
        except failure as error:
            errors.append(error)
        ended.set()

    taken = 0
    try:
        async with trio.open_nursery() as nursery:
            for way in ways:
                ended = trio.Event()
                nursery.start_soon(attempt, way)
                with trio.move_on_after(delay):
                    await ended.wait()
                delay *= growth
                if results:
                    break
        if not results:
            raise NobodyError(errors)
        taken = 1
        return results[0]
    finally:
        for late in results[taken:]:
            discard(late)
