"""Which clients were notified in this epoch: each once, in bounded memory."""

from __future__ import annotations

import sys

import pytest

from kproxy.rebootstrap.actions import Action, Trigger
from kproxy.rebootstrap.client_capabilities import Capability
from kproxy.rebootstrap.decisions import Place, Standing
from kproxy.rebootstrap.notified_clients import CAPACITY, Client, NotifiedClients

A, B, C, D = (Client("10.0.0.1", f"client-{name}", "apache-kafka-java", "4.3.0") for name in "abcd")


def decided(
    notified: NotifiedClients,
    client: Client,
    place: Place = Place.NODE,
    ask: Trigger = Trigger.METADATA,
    *,
    stale: bool = False,
) -> Action:
    """Decide as for the relay, for a client that understands 129."""
    return notified.decide(client, place, ask, Capability.REBOOTSTRAPS, stale)


def test_a_client_that_nobody_knows_is_served() -> None:
    """And it is not remembered."""
    notified = NotifiedClients()
    assert decided(notified, A) is Action.SERVE
    assert (notified.standing(A), len(notified)) == (Standing.UNKNOWN, 0)


def test_statement_once_in_an_epoch_then_fresh_metadata() -> None:
    """rebootstrap.md: owed, told at its next Metadata, served at the one after."""
    notified = NotifiedClients()
    notified.owe(A)
    assert notified.standing(A) is Standing.OWED
    assert [decided(notified, A) for _ in range(3)] == [Action.NOTIFY, Action.SERVE, Action.SERVE]
    assert notified.standing(A) is Standing.NOTIFIED


def test_notified_on_a_stale_connection_it_is_owed_nothing() -> None:
    """Its other connections, which close later, cause no second 129."""
    notified = NotifiedClients()
    assert decided(notified, A, stale=True) is Action.NOTIFY
    notified.owe(A)
    assert decided(notified, A) is Action.SERVE
    assert decided(notified, A, stale=True) is Action.CLOSE


def test_back_at_the_bootstrap_listener_it_is_owed_nothing() -> None:
    """KIP-899 was faster than the 129."""
    notified = NotifiedClients()
    notified.owe(A)
    assert decided(notified, A, Place.BOOTSTRAP) is Action.SERVE
    assert notified.standing(A) is Standing.RECOVERED
    notified.owe(A)
    assert decided(notified, A) is Action.SERVE


def test_back_after_a_129_it_stays_notified() -> None:
    """A retired node that it meets later in the epoch refuses it: other nodes, or KIP-899, lead it on."""
    notified = NotifiedClients()
    assert decided(notified, A, Place.RETIRED) is Action.NOTIFY
    assert decided(notified, A, Place.BOOTSTRAP) is Action.SERVE
    assert decided(notified, A, Place.RETIRED) is Action.REFUSE
    assert decided(notified, A, ask=Trigger.ELSEWHERE) is Action.CLOSE


def test_a_new_epoch_forgets() -> None:
    """Each epoch notifies anew."""
    notified = NotifiedClients()
    decided(notified, A, stale=True)
    notified.owe(B)
    notified.begin_epoch()
    assert len(notified) == 0
    assert decided(notified, A, stale=True) is Action.NOTIFY


@pytest.mark.parametrize("field", Client._fields)
def test_each_part_of_an_identity_counts(field: str) -> None:
    """Another host, client id, software or version is another client."""
    notified = NotifiedClients()
    notified.owe(A)
    assert decided(notified, A._replace(**{field: "another"})) is Action.SERVE
    assert decided(notified, A) is Action.NOTIFY


def test_clients_that_look_alike_are_told_one_after_the_other() -> None:
    """On the connections that they had, and where they say themselves that they mean another cluster; then no more."""
    notified = NotifiedClients()
    notified.owe(A, 3)
    assert decided(notified, A, stale=True) is Action.NOTIFY
    assert notified.standing(A) is Standing.SHARED
    assert decided(notified, A) is Action.SERVE
    assert decided(notified, A, Place.BOOTSTRAP) is Action.SERVE
    assert notified.standing(A) is Standing.SHARED
    assert decided(notified, A, ask=Trigger.ELSEWHERE) is Action.NOTIFY
    assert decided(notified, A, Place.RETIRED) is Action.NOTIFY
    assert notified.standing(A) is Standing.NOTIFIED
    assert decided(notified, A, ask=Trigger.ELSEWHERE) is Action.CLOSE
    notified.owe(A, 3)
    assert notified.standing(A) is Standing.NOTIFIED


def test_clients_that_look_alike_in_a_full_memory() -> None:
    """The second one is told, too, where there is no room for anybody else."""
    notified = NotifiedClients(1)
    notified.owe(A, 2)
    assert [decided(notified, A, stale=True) for _ in range(3)] == [Action.NOTIFY, Action.NOTIFY, Action.CLOSE]
    assert len(notified) == 1


def test_how_many_look_alike_is_forgotten_with_them() -> None:
    """By a new epoch, and where others take their place in a full memory."""
    notified = NotifiedClients(capacity=1)
    notified.owe(A, 2)
    notified.owe(B, 2)
    assert list(notified._further) == list(notified._others)
    notified.begin_epoch()
    assert not notified._further


def test_clients_that_nobody_knew_to_be_alike_share_one_129() -> None:
    """The second one on a stale connection is closed, and KIP-899 covers it."""
    notified = NotifiedClients()
    assert [decided(notified, Client("10.0.0.1"), stale=True) for _ in range(2)] == [Action.NOTIFY, Action.CLOSE]


def test_a_full_memory_forgets_the_oldest_that_was_not_notified() -> None:
    """Owed or recovered makes no difference; a client noted again counts from then."""
    notified = NotifiedClients(capacity=3)
    notified.owe(A)
    notified.owe(B)
    decided(notified, C, Place.BOOTSTRAP)
    decided(notified, A, Place.BOOTSTRAP)
    notified.owe(D)
    assert len(notified) == 3
    assert [notified.standing(each) for each in (A, B, C, D)] == [
        Standing.RECOVERED,
        Standing.UNKNOWN,
        Standing.RECOVERED,
        Standing.OWED,
    ]


def test_a_full_memory_never_forgets_notified_clients() -> None:
    """Newcomers then count as notified: some miss their 129, none gets a second one."""
    notified = NotifiedClients(capacity=2)
    assert [decided(notified, each, stale=True) for each in (A, B, C, A)] == [
        Action.NOTIFY,
        Action.NOTIFY,
        Action.CLOSE,
        Action.CLOSE,
    ]
    notified.owe(C)
    assert decided(notified, C) is Action.SERVE
    assert decided(notified, C, Place.BOOTSTRAP) is Action.SERVE
    assert len(notified) == 2


def test_a_notified_client_takes_the_place_of_another() -> None:
    """A 129 for a newcomer replaces the oldest client that was not notified; for a known client it replaces none."""
    notified = NotifiedClients(capacity=3)
    for each in (A, B, D):
        notified.owe(each)
    assert decided(notified, B) is Action.NOTIFY
    assert notified.standing(A) is Standing.OWED
    assert decided(notified, C, stale=True) is Action.NOTIFY
    assert [notified.standing(each) for each in (A, D)] == [Standing.UNKNOWN, Standing.OWED]


def test_the_memory_is_bounded_whatever_clients_send() -> None:
    """With client ids of 32 KiB each, and more of them than there is room for, it stays under 4 MB."""
    notified = NotifiedClients()
    for number in range(CAPACITY + 100):
        notified.owe(Client("10.0.0.1", f"{number:05d}" * 6550))
    assert len(notified) == CAPACITY
    held = notified._others
    assert sys.getsizeof(held) + sum(sys.getsizeof(key) for key in held) < 4 * 2**20
