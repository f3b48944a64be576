"""Who was told in this epoch: once each, in bounded memory."""

from __future__ import annotations

import sys

import pytest

from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.rebootstrap.client_capabilities import Capability
from kproxy.rebootstrap.decisions import Place, Standing
from kproxy.rebootstrap.notified_clients import CAPACITY, Client, NotifiedClients

A, B, C, D = (Client("10.0.0.1", f"client-{name}", "apache-kafka-java", "4.3.0") for name in "abcd")


def judge(
    ledger: NotifiedClients,
    client: Client,
    place: Place = Place.NODE,
    ask: Trigger = Trigger.METADATA,
    *,
    stale: bool = False,
) -> Action:
    """As the relay asks, for a client that can be told."""
    return ledger.decide(client, place, ask, Capability.REBOOTSTRAPS, stale)


def test_a_client_that_nobody_knows_is_served() -> None:
    """And leaves no trace."""
    ledger = NotifiedClients()
    assert judge(ledger, A) is Action.SERVE
    assert (ledger.standing(A), len(ledger)) == (Standing.UNKNOWN, 0)


def test_statement_once_in_an_epoch_then_fresh_metadata() -> None:
    """rebootstrap.md: owed, told at its next Metadata, served at the one after."""
    ledger = NotifiedClients()
    ledger.owe(A)
    assert ledger.standing(A) is Standing.OWED
    assert [judge(ledger, A) for _ in range(3)] == [Action.NOTIFY, Action.SERVE, Action.SERVE]
    assert ledger.standing(A) is Standing.NOTIFIED


def test_told_on_a_stale_connection_it_is_owed_nothing() -> None:
    """Its other connections, which close later, do not bring a second 129."""
    ledger = NotifiedClients()
    assert judge(ledger, A, stale=True) is Action.NOTIFY
    ledger.owe(A)
    assert judge(ledger, A) is Action.SERVE
    assert judge(ledger, A, stale=True) is Action.CLOSE


def test_back_at_the_bootstrap_listener_it_is_owed_nothing() -> None:
    """KIP-899 was quicker than the 129."""
    ledger = NotifiedClients()
    ledger.owe(A)
    assert judge(ledger, A, Place.BOOTSTRAP) is Action.SERVE
    assert ledger.standing(A) is Standing.RECOVERED
    ledger.owe(A)
    assert judge(ledger, A) is Action.SERVE


def test_back_after_a_129_it_stays_told() -> None:
    """A retired node that it meets later in the epoch refuses it: other nodes, or KIP-899, lead on."""
    ledger = NotifiedClients()
    assert judge(ledger, A, Place.RETIRED) is Action.NOTIFY
    assert judge(ledger, A, Place.BOOTSTRAP) is Action.SERVE
    assert judge(ledger, A, Place.RETIRED) is Action.REFUSE
    assert judge(ledger, A, ask=Trigger.ELSEWHERE) is Action.CLOSE


def test_a_new_epoch_forgets() -> None:
    """Each epoch tells anew."""
    ledger = NotifiedClients()
    judge(ledger, A, stale=True)
    ledger.owe(B)
    ledger.begin_epoch()
    assert len(ledger) == 0
    assert judge(ledger, A, stale=True) is Action.NOTIFY


@pytest.mark.parametrize("field", Client._fields)
def test_each_part_of_an_identity_counts(field: str) -> None:
    """Another host, client id, software or version is another client."""
    ledger = NotifiedClients()
    ledger.owe(A)
    assert judge(ledger, A._replace(**{field: "another"})) is Action.SERVE
    assert judge(ledger, A) is Action.NOTIFY


def test_indistinguishable_clients_share_one_129() -> None:
    """The second one on a stale connection is closed, and KIP-899 covers it."""
    ledger = NotifiedClients()
    assert [judge(ledger, Client("10.0.0.1"), stale=True) for _ in range(2)] == [Action.NOTIFY, Action.CLOSE]


def test_a_full_ledger_forgets_the_oldest_that_was_not_told() -> None:
    """Owed or recovered alike; one booked again counts from then."""
    ledger = NotifiedClients(capacity=3)
    ledger.owe(A)
    ledger.owe(B)
    judge(ledger, C, Place.BOOTSTRAP)
    judge(ledger, A, Place.BOOTSTRAP)
    ledger.owe(D)
    assert len(ledger) == 3
    assert [ledger.standing(each) for each in (A, B, C, D)] == [
        Standing.RECOVERED,
        Standing.UNKNOWN,
        Standing.RECOVERED,
        Standing.OWED,
    ]


def test_a_full_ledger_never_forgets_who_was_told() -> None:
    """Newcomers count as told then: some go without a 129, nobody gets a second one."""
    ledger = NotifiedClients(capacity=2)
    assert [judge(ledger, each, stale=True) for each in (A, B, C, A)] == [
        Action.NOTIFY,
        Action.NOTIFY,
        Action.CLOSE,
        Action.CLOSE,
    ]
    ledger.owe(C)
    assert judge(ledger, C) is Action.SERVE
    assert judge(ledger, C, Place.BOOTSTRAP) is Action.SERVE
    assert len(ledger) == 2


def test_told_makes_room_among_the_untold() -> None:
    """A 129 for a newcomer costs the oldest who was not told its place, and for one that is known no place at all."""
    ledger = NotifiedClients(capacity=3)
    for each in (A, B, D):
        ledger.owe(each)
    assert judge(ledger, B) is Action.NOTIFY
    assert ledger.standing(A) is Standing.OWED
    assert judge(ledger, C, stale=True) is Action.NOTIFY
    assert [ledger.standing(each) for each in (A, D)] == [Standing.UNKNOWN, Standing.OWED]


def test_the_memory_is_bounded_whatever_clients_send() -> None:
    """Client ids of 32 KiB each, and more of them than there is room for: under 4 MB."""
    ledger = NotifiedClients()
    for number in range(CAPACITY + 100):
        ledger.owe(Client("10.0.0.1", f"{number:05d}" * 6550))
    assert len(ledger) == CAPACITY
    held = ledger._others
    assert sys.getsizeof(held) + sum(sys.getsizeof(key) for key in held) < 4 * 2**20
