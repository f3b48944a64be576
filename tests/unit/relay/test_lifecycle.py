"""The life of a connection: every event in every state, and the reason for its end."""

from __future__ import annotations

from itertools import product

from kproxy.observe.reasons import Reason
from kproxy.relay.lifecycle import TRANSITIONS, Event, Lifecycle, State
from tests.support.every import every

OPEN, DRAINING, ANSWERING, FLUSHING, CLOSED = State
EXPECTED = """
           drain     between    last      client    broker   close
open       draining  -          answering answering flushing closed
draining   draining  answering  answering answering flushing closed
answering  -         -          -         answering flushing closed
flushing   -         -          -         -         -        closed
closed     -         -          -         -         -        -
"""


def expected() -> dict[tuple[State, Event], State]:
    """The table above; "-" is no transition."""
    _, *lines = (line.split() for line in EXPECTED.strip().splitlines())
    return {
        (State[name.upper()], event): State[to.upper()]
        for name, *row in lines
        for event, to in zip(Event, row, strict=True)
        if to != "-"
    }


def test_the_table_is_as_written_above() -> None:
    """Each state and event, none left out."""
    assert dict(TRANSITIONS) == expected()


@every(("state", "event"), list(product(State, Event)))
def test_no_event_leads_back(state: State, event: Event) -> None:
    """A connection only ever comes nearer to its end; a closed one stays closed."""
    life = Lifecycle()
    life.state = state
    followed = life.take(event, Reason.DRAINED)
    assert followed == ((state, event) in TRANSITIONS)
    assert life.state >= state
    assert life.reason is (Reason.DRAINED if followed else None)


def test_every_state_leads_to_the_end() -> None:
    """It can be closed in each of them, once."""
    for state in State:
        life = Lifecycle()
        life.state = state
        assert life.take(Event.CLOSE, Reason.SHUTDOWN) == (state is not CLOSED)


def test_a_reason_stays_until_another_comes() -> None:
    """A connection drained between two requests ends as drained; if its broker closes, for that reason."""
    life = Lifecycle()
    assert life.take(Event.DRAIN, Reason.DRAINED)
    assert life.take(Event.BETWEEN_REQUESTS)
    assert (life.state, life.reason) == (ANSWERING, Reason.DRAINED)
    assert not life.take(Event.DRAIN, Reason.REBOOTSTRAP)
    assert life.take(Event.BROKER_ENDED, Reason.BROKER_CLOSED)
    assert (life.state, life.reason) == (FLUSHING, Reason.BROKER_CLOSED)
