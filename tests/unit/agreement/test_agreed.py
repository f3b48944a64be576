"""What a replica knows of the orders: the highest one counts, and each place gets it."""

from __future__ import annotations

import pytest

from kproxy.agreement.agreed import Agreed
from kproxy.agreement.failover_record import FailoverRecord
from kproxy.agreement.order import Order


def order(number: int, replica: str = "a", upstream: str = "west") -> Order:
    """An order that differs in what is compared."""
    return Order("c", number, upstream, FailoverRecord(), replica, "operator", 0.0)


@pytest.fixture
def agreed() -> Agreed:
    """With two places, of which nothing is known."""
    found = Agreed()
    found.keep_in(["east", "west"])
    return found


def test_the_highest_counts(agreed: Agreed) -> None:
    """In whatever sequence they come, and from wherever."""
    assert agreed.take("east", order(2))
    assert not agreed.take("west", order(1))
    assert not agreed.take("west", order(2))
    assert agreed.take(None, order(2, "b"))
    assert agreed.newest == order(2, "b")


def test_what_a_place_lacks(agreed: Agreed) -> None:
    """Only a place that has been read is known to lack something; one that is read anew may have lost it."""
    assert agreed.lacking == []
    agreed.take("east", order(1))
    assert agreed.lacking == []
    agreed.read("east")
    agreed.read("west")
    assert agreed.lacking == ["west"]
    agreed.take("west", order(1))
    assert agreed.lacking == []
    agreed.begin("east")
    assert agreed.lacking == []
    agreed.read("east")
    assert agreed.lacking == ["east"]
    agreed.take("east", order(3))
    assert agreed.lacking == ["west"]


def test_what_has_been_read(agreed: Agreed) -> None:
    """Learned from one, tried at all, complete with all."""

    def states() -> tuple[bool, bool, bool]:
        return agreed.learned, agreed.tried, agreed.complete

    assert states() == (False, False, False)
    agreed.read("east")
    assert states() == (True, False, False)
    agreed.lost("west", "away")
    assert states() == (True, True, False)
    agreed.begin("west")
    assert (states(), agreed.copies["west"].error) == ((True, True, False), "away")
    agreed.read("west")
    assert states() == (True, True, True)
    assert agreed.copies["west"].error is None


def test_other_places(agreed: Agreed) -> None:
    """What is known of those that stay is kept; what is said of those that are gone is left out."""
    agreed.read("east")
    agreed.keep_in(["east", "north"])
    agreed.begin("west")
    agreed.read("west")
    agreed.lost("west", "away")
    assert agreed.take("west", order(1))
    assert (list(agreed.copies), agreed.copies["east"].read, agreed.lacking) == (["east", "north"], True, ["east"])


def test_numbers(agreed: Agreed) -> None:
    """Each is given once, also when the order before could not be written."""
    assert (agreed.next_number(), agreed.next_number()) == (1, 2)
    agreed.take("east", order(7))
    assert (agreed.next_number(), agreed.next_number()) == (8, 9)


def test_known_before_a_restart() -> None:
    """It counts until a higher one is read."""
    agreed = Agreed(order(4))
    assert not agreed.take(None, order(3))
    assert agreed.newest == order(4)
