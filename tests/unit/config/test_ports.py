"""kproxy.config.nodes: collisions of claims on ports."""

from __future__ import annotations

import pytest

from kproxy.config.nodes import Claim, conflicts, overlapping, room, same_interface


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("0.0.0.0", "0.0.0.0", True),
        ("0.0.0.0", "127.0.0.1", True),
        ("10.0.0.1", "0.0.0.0", True),
        ("::", "::1", True),
        ("0.0.0.0", "::", False),
        ("0.0.0.0", "::1", False),
        ("127.0.0.1", "::", False),
        ("0.0.0.0", "kafka.internal", True),
        ("kafka.internal", "::", True),
        ("localhost", "127.0.0.1", True),
        ("::1", "localhost", True),
        ("localhost", "10.0.0.1", False),
        ("localhost", "kafka.internal", False),
        ("127.0.0.1", "127.0.0.2", False),
        ("10.0.0.1", "10.0.0.2", False),
    ],
)
def test_same_interface(one: str, other: str, meet: bool) -> None:
    """A wildcard collides with every address of its family, and localhost with both loopback addresses."""
    assert same_interface(one, other) is same_interface(other, one) is meet


@pytest.mark.parametrize(
    ("one", "other", "collide"),
    [
        ((9092, 9092), (9092, 9092), True),
        ((9092, 9092), (9093, 9093), False),
        ((9092, 9099), (9099, 9100), True),
        ((9092, 9099), (9094, 9095), True),
        ((9092, 9092), (9092, None), True),
        ((9092, 9092), (9091, None), False),
        ((9092, 9099), (9095, None), True),
        ((9093, None), (9093, None), True),
        ((9093, None), (9193, None), False),
        ((0, 0), (0, 0), False),
        ((0, None), (9092, 9092), False),
    ],
)
def test_spans(one: tuple[int, int | None], other: tuple[int, int | None], collide: bool) -> None:
    """Only certain ports collide: the first port of an open claim, and never port 0."""
    a, b = Claim(("a",), "0.0.0.0", *one), Claim(("b",), "0.0.0.0", *other)
    assert a.collides(b) is b.collides(a) is collide


def test_other_addresses_never_collide() -> None:
    """The same port on two addresses is two ports."""
    assert not Claim(("a",), "127.0.0.1", 1, 1).collides(Claim(("b",), "127.0.0.2", 1, 1))


def test_conflicts_name_both_and_the_port() -> None:
    """The problem is at the later claim, with the first port of both."""
    claims = [Claim(("admin", "listen"), "::", 9095, 9095), Claim(("clusters", 0, "nodes"), "::1", 9093, 9096)]
    assert conflicts(claims) == [(("clusters", 0, "nodes"), "port 9095 is also that of admin.listen")]


def test_overlapping_spans() -> None:
    """Ends are included; order does not matter."""
    assert overlapping([(5, 9), (0, 5), (10, 11)]) == [((0, 5), (5, 9))]


def test_room_ends_at_the_next_claim_above() -> None:
    """An open claim reaches up to the next one on the same address."""
    open_claim = Claim(("n",), "0.0.0.0", 9093, None)
    below, above = Claim(("l",), "0.0.0.0", 9092, 9092), Claim(("a",), "127.0.0.1", 9190, 9190)
    elsewhere = Claim(("b",), "::1", 9100, 9100)
    assert room(open_claim, [below, open_claim, above, elsewhere]) == 97
    assert room(open_claim, [below, open_claim, elsewhere]) is None
