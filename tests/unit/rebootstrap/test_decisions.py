"""The decision table: every combination, written by hand; and what it must never decide, by statement."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.rebootstrap.client_capabilities import Capability
from kproxy.rebootstrap.decisions import RULES, Place, Standing, cases, decide, standing_after
from tests.support.every import every

# One line for each place, freshness, ask and capabilities; one column for each standing.
EXPECTED = """
                                         unknown owed notified recovered shared
bootstrap fresh hello     any            serve  serve serve  serve     serve
bootstrap fresh elsewhere any            serve  serve serve  serve     serve
bootstrap fresh metadata  any            serve  serve serve  serve     serve
bootstrap stale hello     any            close  close close  close     close
bootstrap stale elsewhere any            close  close close  close     close
bootstrap stale metadata  any            close  close close  close     close
bootstrap fresh coordinator any          serve  serve serve  serve     serve
bootstrap fresh offsets   any            serve  serve serve  serve     serve
bootstrap stale coordinator any          16     16    16     16        16
bootstrap stale offsets   any            close  close close  close     close
node      fresh hello     any            serve  serve serve  serve     serve
node      fresh elsewhere any            129    129   close  129       129
node      fresh metadata  any            serve  129   serve  serve     serve
node      stale hello     any            close  close close  close     close
node      stale elsewhere any            129    129   close  close     129
node      stale metadata  any            129    129   close  close     129
node      fresh coordinator any          serve  serve serve  serve     serve
node      fresh offsets   any            serve  serve serve  serve     serve
node      stale coordinator any          16     16    16     16        16
node      stale offsets   any            close  close close  close     close
retired   fresh hello     rebootstraps   serve  serve refuse serve     serve
retired   fresh hello     unknown        serve  serve refuse serve     serve
retired   fresh hello     recovers       refuse refuse refuse refuse    refuse
retired   fresh hello     too_old        refuse refuse refuse refuse    refuse
retired   fresh elsewhere any            129    129   refuse 129       129
retired   fresh metadata  any            129    129   refuse 129       129
retired   stale hello     any            refuse refuse refuse refuse    refuse
retired   stale elsewhere any            129    129   refuse refuse    129
retired   stale metadata  any            129    129   refuse refuse    129
retired   fresh coordinator any          refuse refuse refuse refuse    refuse
retired   fresh offsets   any            refuse refuse refuse refuse    refuse
retired   stale coordinator any          16     16    16     16        16
retired   stale offsets   any            close  close close  close     close
"""

Case = tuple[Place, bool, Trigger, Standing, Capability]
CASES: list[Case] = list(product(Place, (False, True), Trigger, Standing, Capability))


def expected() -> dict[Case, Action]:
    """Return the table above, one entry for each combination."""
    head, *lines = (line.split() for line in EXPECTED.strip().splitlines())
    table: dict[Case, Action] = {}
    for place, freshness, ask, able, *means in lines:
        abilities = list(Capability) if able == "any" else [Capability(able)]
        for (standing, what), ability in product(zip(head, means, strict=True), abilities):
            case = (Place(place), freshness == "stale", Trigger(ask), Standing(standing), ability)
            assert case not in table
            table[case] = Action(what)
    return table


def test_every_combination_is_decided_as_written_above() -> None:
    """3 places, 2 freshnesses, 5 asks, 5 standings, 4 capabilities: 600, none left out."""
    table = expected()
    assert set(table) == set(CASES)
    assert len(CASES) == 600
    decided = {case: decide(case[0], case[2], case[4], case[3], case[1]) for case in CASES}
    assert decided == table


def test_exactly_one_rule_fits_each_combination() -> None:
    """So no rule depends on its place in the list, and each line of the page can be read alone."""
    fits = Counter(case for rule in RULES for case in cases(rule))
    assert fits == Counter(CASES)


def test_every_rule_gives_its_reason_once() -> None:
    """No rule lacks a reason, or repeats another of its listener."""
    reasons = [(rule.places, rule.stale, rule.triggers, rule.why) for rule in RULES]
    assert all(rule.why for rule in RULES)
    assert len(set(reasons)) == len(reasons)


@every("case", [case for case in CASES if case[0] is Place.BOOTSTRAP])
def test_statement_never_on_a_listener_that_clients_bootstrap_from(case: Case) -> None:
    """rebootstrap.md: always-129 on a bootstrap address loops, and a Java admin hangs there."""
    means = decide(case[0], case[2], case[4], case[3], case[1])
    assert means in (Action.SERVE, Action.CLOSE) or (means, case[2]) == (Action.NOT_COORDINATOR, Trigger.COORDINATOR)


def test_statement_v13_and_later_only() -> None:
    """rebootstrap.md: 129 answers Metadata 13 or the ids of ApiVersions v5, never a plain ApiVersions."""
    notified = {case[2] for case in CASES if decide(case[0], case[2], case[4], case[3], case[1]) is Action.NOTIFY}
    assert notified == {Trigger.METADATA, Trigger.ELSEWHERE}


def test_statement_once_in_an_epoch_then_fresh_metadata() -> None:
    """rebootstrap.md: one that was told is never told again, and at a node that is there its Metadata is served."""
    for place, stale, ask, ability in product(Place, (False, True), Trigger, Capability):
        assert decide(place, ask, ability, Standing.NOTIFIED, stale) is not Action.NOTIFY
    assert all(
        decide(Place.NODE, Trigger.METADATA, ability, Standing.NOTIFIED, False) is Action.SERVE
        for ability in Capability
    )


def test_statement_a_retired_listener_refuses_older_clients_at_once() -> None:
    """rebootstrap.md: so that KIP-899 (all known nodes unavailable) sends them back to bootstrap."""
    for standing, stale, ability in product(Standing, (False, True), (Capability.RECOVERS, Capability.TOO_OLD)):
        assert decide(Place.RETIRED, Trigger.HELLO, ability, standing, stale) is Action.REFUSE


@every("case", CASES)
def test_statement_coordinator_connections_of_an_earlier_epoch_are_answered_16(case: Case) -> None:
    """rebootstrap.md: the connection to Java's coordinator survives a 129: "close it, or answer 16 there"."""
    place, stale, ask, standing, able = case
    refused = decide(place, ask, able, standing, stale) is Action.NOT_COORDINATOR
    assert refused == (stale and ask is Trigger.COORDINATOR)


@every(("place", "standing"), list(product(Place, Standing)))
def test_a_16_leaves_the_standing_as_it_is(place: Place, standing: Standing) -> None:
    """It does not concern the topology: a client that is owed a 129 still is, and a notified one gets no second."""
    assert standing_after(place, Trigger.COORDINATOR, standing, Action.NOT_COORDINATOR) is standing


def test_a_notified_client_stays_notified_until_the_epoch_ends() -> None:
    """Neither the bootstrap listener nor anything else undoes it; where clients look alike, it is kept for all."""
    for place, ask, means in product(Place, Trigger, Action):
        assert standing_after(place, ask, Standing.NOTIFIED, means) is Standing.NOTIFIED
        after = Standing.NOTIFIED if means is Action.NOTIFY else Standing.SHARED
        assert standing_after(place, ask, Standing.SHARED, means) is after


@pytest.mark.parametrize("standing", list(Standing))
def test_a_129_makes_notified(standing: Standing) -> None:
    """At whatever listener it got it."""
    assert all(
        standing_after(place, ask, standing, Action.NOTIFY) is Standing.NOTIFIED
        for place, ask in product(Place, Trigger)
    )


@pytest.mark.parametrize("standing", [Standing.UNKNOWN, Standing.OWED, Standing.RECOVERED])
def test_only_metadata_served_at_the_bootstrap_listener_makes_recovered(standing: Standing) -> None:
    """A hello is no metadata; a node's metadata comes without bootstrap; a closed client got nothing."""
    for place, ask, means in product(Place, Trigger, (set(Action) - {Action.NOTIFY})):
        at_bootstrap = (place, ask, means) == (Place.BOOTSTRAP, Trigger.METADATA, Action.SERVE)
        assert standing_after(place, ask, standing, means) is (Standing.RECOVERED if at_bootstrap else standing)
