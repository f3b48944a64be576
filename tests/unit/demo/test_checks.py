"""kproxy.demo.checks: each kind of fault fails its own check, and only that."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.demo.checks import check
from tests.unit.demo.boards import OWN, TOLD, VERDICT, ended, hosted, stable, started

PROXY = {7000, 7001, 7002}


def failed(peers: set[int] = PROXY, addresses: dict[int, str] | None = None, **verdict: Any) -> list[str]:
    """Return the lines of the failed checks of a run that differs from a good one in this."""
    board = ended()
    board.verdict = VERDICT | verdict
    board.told = TOLD if addresses is None else addresses
    return [one.found for one in check(board, peers, len(peers)) if not one.ok]


def test_a_good_run() -> None:
    """All checks pass."""
    assert failed() == []


def test_no_verdict_is_no_success() -> None:
    """A run without an end proves nothing."""
    delivered, lost, duplicates, *_ = check(started(), PROXY, 3)
    assert [delivered.ok, lost.ok, duplicates.ok] == [False, False, False]


@pytest.mark.parametrize(
    ("verdict", "lines"),
    [
        ({"acknowledged": 199}, ["200 records sent, 199 acknowledged, 200 received"]),
        (
            {"received": 199, "lost": 1},
            ["200 records sent, 200 acknowledged, 199 received", "acknowledged records lost: 1"],
        ),
        (
            {"received": 202, "duplicates": 2},
            ["200 records sent, 200 acknowledged, 202 received", "records received twice: 2"],
        ),
        ({"lost": 1, "duplicates": 1}, ["acknowledged records lost: 1", "records received twice: 1"]),
        (
            {"sent": 0, "acknowledged": 0, "received": 0},
            ["0 records sent, 0 acknowledged, 0 received"],
        ),
    ],
)
def test_records(verdict: dict[str, Any], lines: list[str]) -> None:
    """Records may be unacknowledged, lost, duplicate or absent; two faults may cancel out in the sums."""
    assert failed(**verdict) == lines


@pytest.mark.parametrize("addresses", [{}, {1: TOLD[1]}, OWN, {1: TOLD[1], 2: OWN[2]}, {1: TOLD[1], 2: "127.0.0.1:1"}])
def test_addresses(addresses: dict[int, str]) -> None:
    """The check fails for a missing node, a broker's own address, and any address that kproxy does not advertise."""
    (line,) = failed(addresses=addresses)
    assert line.startswith("clients were told {")


def test_an_advertised_address_that_is_the_brokers_own() -> None:
    """The check fails even if clients and kproxy agree."""
    board = ended()
    board.own = TOLD
    assert not check(board, {7000}, 1)[3].ok


@pytest.mark.parametrize(
    ("peers", "line"),
    [
        ({7000, 9002}, "clients connected past kproxy, to the brokers' own ports [9002]"),
        (set(), "0 client sockets, at ports []; kproxy's are [7000, 7001, 7002]"),
        ({7000, 5}, "2 client sockets, at ports [5, 7000]; kproxy's are [7000, 7001, 7002]"),
    ],
)
def test_sockets(peers: set[int], line: str) -> None:
    """The check fails for a broker's port, for no socket at all, and for an unknown port."""
    assert failed(peers=peers) == [line]


def test_a_hosted_group() -> None:
    """A third member must have joined, and left, while it was seen; without a hosted group nothing is asked."""
    board = hosted()
    *_, one = check(board, PROXY, 3)
    assert one.ok
    assert one.found == "a member joined the group that kproxy hosts, and left it: generations 1, 2, 3"
    del board.generations[1]
    *_, one = check(board, PROXY, 3)
    assert not one.ok
    assert one.found == "a member joined and left, but the generations 1, 3 had 2, 2 members"
    board.see_group(*stable(4, one=[0], three=[1]))
    assert not check(board, PROXY, 3)[-1].ok
    assert len(check(ended(), PROXY, 3)) == 5
