"""What a client did is derived from its steps and requests: a case for each behaviour."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.conformance.cases import Case
from tests.conformance.observation import Behaviour, Finding, Observation, Request, Step, finding

PRODUCE = Case("Produce", "NOT_LEADER_OR_FOLLOWER")
HIT = Request("Produce", 1.0, hit=True)
AGAIN = Request("Produce", 2.0)
LOOK_UP = Request("Metadata", 1.5)
GOOD = (Step("init", True, 0.5), Step("transaction", True, 3.0))


def bad(error: str, *then: tuple[str, bool]) -> Sequence[Step]:
    """Return the steps of a transaction that fails, and of those that follow."""
    later = [Step(name, ok, 4.0 + number) for number, (name, ok) in enumerate(then)]
    return [Step("init", True, 0.5), Step("transaction", False, 3.0, error), *later]


@pytest.mark.parametrize(
    ("steps", "requests", "expected"),
    [
        (GOOD, [], Behaviour.NOT_SENT),
        (GOOD, [HIT, AGAIN], Behaviour.RETRIED),
        (GOOD, [HIT, LOOK_UP, AGAIN], Behaviour.REFRESHED),
        (GOOD, [HIT], Behaviour.IGNORED),
        (GOOD, [HIT, Request("Produce", 9.0)], Behaviour.IGNORED),
        (bad("E", ("abort", True), ("again", True)), [HIT], Behaviour.ABORTED),
        (bad("E", ("abort", False), ("again", True)), [HIT], Behaviour.GOES_ON),
        (bad("E", ("again", True)), [HIT], Behaviour.GOES_ON),
        (bad("E", ("abort", True), ("again", False), ("close", True), ("anew", True)), [HIT], Behaviour.FATAL),
        (bad("E", ("abort", False), ("again", False), ("anew", False)), [HIT], Behaviour.DEAD),
        (bad("hangs", ("abort", True), ("again", True)), [HIT], Behaviour.HANGS),
        (bad("TimeoutException", ("abort", True), ("again", True)), [HIT, AGAIN], Behaviour.HANGS),
    ],
)
def test_behaviour(steps: Sequence[Step], requests: Sequence[Request], expected: Behaviour) -> None:
    """Each behaviour is told from the others."""
    assert finding(Observation(PRODUCE, steps, requests)).behaviour is expected


def test_what_came_before_the_error_or_after_it_was_told_does_not_count() -> None:
    """Repeats and look-ups are those until the end of the step that tells of the error; a producer needs a leader."""
    late = [Request("FindCoordinator", 2.5), Request("Produce", 3.5), Request("Metadata", 4.0)]
    requests = [Request("Metadata", 0.2), HIT, LOOK_UP, AGAIN, *late]
    found = finding(Observation(PRODUCE, bad("E", ("abort", True), ("again", True)), requests))
    assert found == Finding(Behaviour.ABORTED, "E", "", repeats=1, look_ups=1)


def test_a_record_that_is_not_there_is_lost() -> None:
    """A commit that went well, of a value that read_committed does not read, is worse than an ignored error."""
    seen = Observation(PRODUCE, GOOD, [HIT], believed=["first"], written=[])
    assert finding(seen).behaviour is Behaviour.LOST
    assert finding(Observation(PRODUCE, GOOD, [HIT], ["first"], ["first"])).behaviour is Behaviour.IGNORED


def test_a_look_up_is_no_refresh_of_its_own() -> None:
    """An error of FindCoordinator is retried; nothing else needs to be looked up for that."""
    hit, again = Request("FindCoordinator", 1.0, hit=True), Request("FindCoordinator", 2.0)
    seen = Observation(Case("FindCoordinator", "COORDINATOR_NOT_AVAILABLE"), GOOD, [hit, LOOK_UP, again])
    assert finding(seen) == Finding(Behaviour.RETRIED, repeats=1)


def test_a_look_up_of_the_next_step_is_no_refresh() -> None:
    """A transaction looks its coordinator up also where InitProducerId was retried without that."""
    hit, again, later = Request("InitProducerId", 0.1, hit=True), Request("InitProducerId", 0.2), 1.0
    seen = Observation(Case("InitProducerId", "NOT_COORDINATOR"), GOOD, [hit, again, Request("FindCoordinator", later)])
    assert finding(seen) == Finding(Behaviour.RETRIED, repeats=1)


@pytest.mark.parametrize(
    ("look_ups", "behaviour"),
    [
        ((), Behaviour.RETRIED),
        ((2.5,), Behaviour.RETRIED),
        ((1.5, 2.5), Behaviour.REFRESHED),
        ((1.5,), Behaviour.REFRESHED),
    ],
)
def test_the_look_up_of_the_group_is_no_refresh(look_ups: Sequence[float], behaviour: Behaviour) -> None:
    """Behind AddOffsetsToTxn the group's coordinator is looked up anyway; one in front of the repeat counts."""
    hit, again = Request("AddOffsetsToTxn", 1.0, hit=True), Request("AddOffsetsToTxn", 2.0)
    found = [Request("FindCoordinator", at) for at in look_ups]
    seen = Observation(Case("AddOffsetsToTxn", "NOT_COORDINATOR"), GOOD, [hit, again, *found])
    assert finding(seen).behaviour is behaviour


def test_what_the_same_instance_gets_afterwards_is_kept() -> None:
    """An abort that goes well says little where the next transaction fails: its error is told."""
    steps = [*bad("E", ("abort", True)), Step("again", False, 6.0, "OUT_OF_ORDER"), Step("anew", True, 7.0)]
    assert finding(Observation(PRODUCE, steps, [HIT])) == Finding(Behaviour.FATAL, "E", then="OUT_OF_ORDER")
