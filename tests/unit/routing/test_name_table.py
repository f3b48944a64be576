"""kproxy.routing.name_table: who listens by which name at a shared port."""

from __future__ import annotations

from kproxy.config.server_names import NamePattern, ServerNames
from kproxy.routing.name_table import NameTable, Owned

ORDERS = ServerNames("orders.example.com", NamePattern("b", ".orders.example.com"))
BILLS = ServerNames("bills.example.com", NamePattern("b", ".bills.example.com"))


def table() -> NameTable[str]:
    """Return a table of two owners."""
    made: NameTable[str] = NameTable()
    made.own("orders", ORDERS)
    made.own("bills", BILLS)
    return made


def test_names_are_found_however_they_are_written() -> None:
    """Case and a final dot do not count; a closed listener is not found, and may be closed twice."""
    names = table()
    listener = names.listen("b7.orders.example.com", 7, "orders")
    assert names.find("B7.Orders.Example.com.") is listener
    listener.close()
    listener.close()
    assert listener.closed
    assert names.find("b7.orders.example.com") is None


def test_a_listener_knows_that_it_is_closed() -> None:
    """So a name that was only reserved is not logged."""
    assert not table().listen("b7.orders.example.com", 7, "orders").closed


def test_whose_a_name_is_that_nobody_listens_by() -> None:
    """A node's, or the bootstrap name, of either owner; other names are nobody's."""
    names = table()
    assert names.owned("B9.bills.example.com.") == Owned("bills", 9)
    assert names.owned("orders.example.com") == Owned("orders", None)
    assert names.owned("b.orders.example.com") is None
    names.own("bills", ServerNames("bills.example.com", NamePattern("c", ".bills.example.com")))
    assert names.owned("b9.bills.example.com") is None
    assert names.owned("c9.bills.example.com") == Owned("bills", 9)


def test_a_name_that_another_owner_had() -> None:
    """The one that has it now counts, also while it is only reserved; after it the one before, if it still listens."""
    names = table()
    before = names.listen("b7.orders.example.com", 7, "orders")
    after = names.listen("b7.orders.example.com", 7, "bills")
    assert names.find("b7.orders.example.com") is after
    before.retired = 5.0
    assert names.find("b7.orders.example.com") is after
    after.close()
    assert names.find("b7.orders.example.com") is before


def test_a_retired_name_is_behind_a_present_one() -> None:
    """Whichever began first."""
    names = table()
    present = names.listen("b7.orders.example.com", 7, "orders")
    names.listen("b7.orders.example.com", 7, "bills").retired = 5.0
    assert names.find("b7.orders.example.com") is present
