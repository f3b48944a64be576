"""A room whose requests the proxy answers itself: after a dialogue with the broker, later, or in steps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import asynccontextmanager
from struct import Struct

from kproxy.cluster.policies import composed
from kproxy.protocol.api_table import ApiPolicy, ApiTable, OnRequest
from kproxy.protocol.context import Context
from kproxy.protocol.fault import Fault
from kproxy.protocol.outcomes import AskBroker, Deferred, Incremental, Steps
from kproxy.relay.deferred_work import DeferredWork
from kproxy.wire.primitives import INT32
from kproxy.wire.primitives import frame as framed
from tests.unit.relay import frames
from tests.unit.relay.flows import Relay, Side
from tests.unit.relay.sockets import Stage, stage

CONVERSE, PARK, STEP, WORK = 44, 71, 60, 72
"""Api keys of requests: one begins a dialogue, one is answered later, one goes to the broker, one takes steps."""
ENDS_PARKED = 0x40
"""Added to a dialogue's number of steps: its answer comes later; with the next too, it is there at once."""
AT_ONCE = 0x20
ENDS_IN_STEPS = 0x80
"""Added to a dialogue's number of steps: its answer, a `parked_response`, is worked out in three more."""
_ID = Struct(">4xi")


class Room:
    """Records what it answers: `parked` answers, `abandoned` ones, and dialogues that are `over`, by id.

    `within` is called while a request is handled, and at each step of one that is answered in steps; `steps` are all of
    these steps that were taken, as (id, number).
    """

    def __init__(self) -> None:
        self.parked: dict[int, Deferred] = {}
        self.abandoned: list[int] = []
        self.over: list[int] = []
        self.steps: list[tuple[int, int]] = []
        self.within: Callable[[int], None] = lambda number: None
        self.fault: Exception | None = None
        """What a dialogue, or an answer in steps, raises at its last step."""

    @property
    def policies(self) -> Mapping[int, ApiPolicy]:
        converse = ApiPolicy(on_request=OnRequest.WHOLE, request=self._converse)
        park = ApiPolicy(on_request=OnRequest.WHOLE, request=self._park)
        return {
            CONVERSE: converse,
            PARK: park,
            WORK: ApiPolicy(on_request=OnRequest.WHOLE, request=self._work),
        }

    def _converse(self, context: Context, frame: memoryview) -> AskBroker:
        del context
        (number,) = _ID.unpack_from(frame)
        self.within(number)
        return AskBroker(self._steps(number, frame[-1]))

    def _steps(self, number: int, count: int) -> Steps:
        responses = []
        try:
            for step in range(count & (AT_ONCE - 1)):
                responses.append((yield step_request(number, step)))
            if self.fault is not None:
                raise self.fault
        finally:
            self.over.append(number)
        if count & ENDS_IN_STEPS:
            self.parked[number] = stepwise = Incremental(self._worked(number, 3))
            return stepwise
        answer = framed(INT32.pack(number), *responses)
        return self._parked(number, answer if count & AT_ONCE else None) if count & ENDS_PARKED else answer

    def _work(self, context: Context, frame: memoryview) -> Incremental:
        del context
        (number,) = _ID.unpack_from(frame)
        stepwise = Incremental(self._worked(number, frame[-1]))
        self.parked[number] = stepwise
        return stepwise

    def _worked(self, number: int, count: int) -> Generator[None, None, bytes]:
        for step in range(count):
            self.steps.append((number, step))
            self.within(number)
            yield
        if self.fault is not None:
            raise self.fault
        return parked_response(number)

    def _park(self, context: Context, frame: memoryview) -> Deferred:
        del context
        (number,) = _ID.unpack_from(frame)
        self.within(number)
        return self._parked(number, parked_response(number) if frame[-1] else None)

    def _parked(self, number: int, answer: bytes | None) -> Deferred:
        parked = Deferred(lambda: self.abandoned.append(number))
        self.parked[number] = parked
        if answer is not None:
            parked.resolve(answer)
        return parked


def dialogue(number: int, steps: int) -> bytes:
    """A request for a dialogue of so many steps."""
    return frames.raw_request(CONVERSE, 1, number, bytes((steps,)))


def step_request(number: int, step: int) -> bytes:
    """The question to the broker; ids are those of the client, and others."""
    return frames.raw_request(STEP, 1, number if step == 0 else -100 * number - step, b"step")


def step_response(number: int, step: int, size: int = 5) -> bytes:
    """The broker's response to it."""
    return framed(INT32.pack(number if step == 0 else -100 * number - step), bytes((step,)) * size)


def asked_broker(number: int, steps: int, size: int = 5) -> bytes:
    """The client's response in the end: all that the broker answered."""
    return framed(INT32.pack(number), *(step_response(number, step, size)[4:] for step in range(steps)))


def work(number: int, steps: int) -> bytes:
    """A request that is answered in so many steps and one, by a `parked_response`."""
    return frames.raw_request(WORK, 0, number, bytes((steps,)))


def park(number: int, *, at_once: bool = False) -> bytes:
    """A request that is answered later, or by an answer that is there already."""
    return frames.raw_request(PARK, 0, number, bytes((at_once,)))


def parked_response(number: int, size: int = 9) -> bytes:
    return framed(INT32.pack(number), b"p" * size)


class Own(Relay):
    """A connection to such a room. Side "answer" feeds it a parked answer's frame, by resolving it.

    An answer in steps takes all of them then, as the backlog does.
    """

    def __init__(self, *, held_limit: int = 1 << 20) -> None:
        self.room = Room()
        self.id = 1
        self.deferred_work = DeferredWork()
        super().__init__(others=self.room.policies, held_limit=held_limit)

    def work(self, stepwise: Incremental) -> None:
        """As `Owner`."""
        self.deferred_work.add(self, stepwise)

    def failed(self, error: Exception) -> None:
        """As `Asking`."""
        raise error

    def feed(self, side: Side, data: bytes) -> None:
        if side == "answer":
            parked = self.room.parked[INT32.unpack_from(data, 4)[0]]
            while isinstance(parked, Incremental) and not parked.done:
                self.deferred_work.take(self.now)
            parked.resolve(data)
        else:
            super().feed(side, data)


def refused(fault: Fault) -> Callable[[int], None]:
    """The `within` of a room that refuses a request."""

    def refuse(number: int) -> None:
        del number
        raise fault

    return refuse


@asynccontextmanager
async def talking(*, stalled_frame: float = 30.0) -> AsyncIterator[tuple[Stage, Room]]:
    """A running pump whose connections lead to a room."""
    async with stage(stalled_frame=stalled_frame) as running:
        room = Room()
        running.backend.table = ApiTable(
            running.backend.counters, {**composed(running.backend, {}, None), **room.policies}
        )
        yield running, room
