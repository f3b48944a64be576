"""Producer ids that contain their cluster, and the ids that batches get after clients were moved."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kproxy.producers.producer_ids import ProducerIds

MARK = 1 << 62
LARGEST = (1 << 38) - 1
FIRST = ProducerIds("east")
CLUSTER = "MkU3OEVBNTcwNTJENDM2Qk"
PUBLISHED = 7760951203168518151
"""What clients get for id 7 of that cluster since kproxy keeps ids apart."""


def later(stay: int, *, returned: bool = True) -> ProducerIds:
    return ProducerIds("east", stay, returned)


@pytest.mark.parametrize("producer_id", [0, 1, 999, LARGEST])
def test_the_same_id_of_two_clusters_is_two(producer_id: int) -> None:
    """Whatever the number, each is an id that Kafka accepts and that no cluster issues by itself."""
    ids = {FIRST.issued(producer_id, cluster) for cluster in ("cluster-1", "cluster-2", None)}
    assert len(ids) == 3
    assert all(MARK < one < 1 << 63 and one & LARGEST == producer_id for one in ids)


def test_an_id_is_the_same_in_every_replica_and_after_every_release() -> None:
    """Logs that outlive kproxy contain it, so the computation must never change."""
    assert FIRST.issued(7, CLUSTER) == PUBLISHED
    assert ProducerIds("west").issued(7, CLUSTER) == PUBLISHED
    assert FIRST.issued(7, None) == ProducerIds("east").issued(7, "")


def test_ids_of_different_stays_differ() -> None:
    """Also of the same cluster."""
    assert len({later(stay).issued(7, "c") for stay in range(16)}) == 16


@pytest.mark.parametrize("producer_id", [-1, LARGEST + 1, MARK | 5])
def test_what_is_no_brokers_id_stays(producer_id: int) -> None:
    """No id at all, or one of a kproxy behind this one."""
    assert FIRST.issued(producer_id, "c") == producer_id


def test_before_the_first_failover_every_batch_goes_on_as_it_is() -> None:
    """Also a batch of a producer from before kproxy."""
    for producer_id in (-1, 0, 7, FIRST.issued(7, "c"), FIRST.issued(7, "another")):
        assert FIRST.renumbered(producer_id) == producer_id


def test_an_id_from_before_kproxy_is_another_after_a_failover() -> None:
    """The other cluster may have issued it to another producer, around kproxy."""
    moved = later(1, returned=False)
    assert moved.renumbered(7) not in {7, moved.issued(7, "east"), moved.issued(7, "west")}
    assert later(2).renumbered(7) not in {7, moved.renumbered(7)}
    assert later(2).renumbered(LARGEST + 1) == LARGEST + 1
    assert later(2).renumbered(-1) == -1


def test_at_a_cluster_that_is_new_to_them_ids_stay() -> None:
    """Its brokers have seen none of them."""
    producer_id = FIRST.issued(7, "east")
    assert later(1, returned=False).renumbered(producer_id) == producer_id


def test_back_at_a_cluster_an_id_is_another_each_time() -> None:
    """Its brokers remember the sequences of each earlier stay for a day."""
    producer_id = FIRST.issued(7, "east")
    renumbered = [later(stay).renumbered(producer_id) for stay in range(0, 15, 2)]
    assert renumbered[0] == producer_id
    assert len(set(renumbered)) == len(renumbered)


def test_an_id_of_this_stay_stays() -> None:
    """A producer that began after the failover is not rewritten."""
    for stay in range(40):
        ids = later(stay)
        assert ids.renumbered(ids.issued(7, "c")) == ids.issued(7, "c")


def test_no_two_producers_have_one_id_in_a_stay() -> None:
    """With two clusters, three stays each, and ids from before kproxy, there are as many ids as producers."""
    issued = [
        later(stay).issued(number, "we"[stay % 2]) for stay in range(6) for number in range(20 * stay, 20 * stay + 20)
    ]
    producers = [*issued, *range(200)]
    for stay in range(1, 20):
        assert len({later(stay).renumbered(one) for one in producers}) == len(producers)


def test_numbers_of_stays_begin_anew_without_the_first() -> None:
    """Number 0 is of the time before any failover, when nothing is rewritten: the sixteenth stay has number 1 again."""
    producer_id = FIRST.issued(7, "c")
    numbers = [later(stay).renumbered(producer_id) for stay in range(1, 32)]
    assert producer_id not in numbers
    assert numbers[0] == numbers[15] == numbers[30]
    assert all(one != other for one, other in pairwise(numbers))


@pytest.mark.parametrize("stay", [0, 1, 5])
def test_a_transaction_is_its_own_clusters(stay: int) -> None:
    """This holds for any stay that the id was issued in, and any name that its cluster had then."""
    for issued_in in (0, 5, 9):
        producer_id = ProducerIds("before", issued_in).issued(7, "c")
        assert later(stay).in_transaction(producer_id, "c") == 7
        assert later(stay).in_transaction(producer_id, "another") == producer_id


def test_a_transaction_where_brokers_name_no_cluster() -> None:
    """The upstream's name is used instead."""
    producer_id = FIRST.issued(7, None)
    assert FIRST.in_transaction(producer_id, "") == 7
    assert ProducerIds("west").in_transaction(producer_id, "c") == producer_id


def test_a_transaction_from_before_kproxy() -> None:
    """It is the broker's id until the first failover; then no cluster's: the next one may have issued the same."""
    assert FIRST.in_transaction(7, "c") == 7
    assert later(1).in_transaction(7, "c") == later(1).renumbered(7) != 7
    assert later(1).in_transaction(-1, None) == -1


def test_where_ids_are_not_kept_apart_any_more() -> None:
    """New ids pass as they are, at any time; those from before are still understood."""
    ended = ProducerIds("east", 3, returned=True, issues=False)
    assert ended.issued(7, "c") == ended.renumbered(7) == ended.in_transaction(7, "c") == 7
    before = later(3).issued(7, "c")
    assert (ended.renumbered(before), ended.in_transaction(before, "c")) == (before, 7)
    earlier = later(1).issued(7, "c")
    assert ended.renumbered(earlier) == later(3).renumbered(earlier)
