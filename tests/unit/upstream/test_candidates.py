"""The order in which brokers are asked when any of them will do."""

from __future__ import annotations

from kproxy.upstream.attempts import Candidate, fresh_first, ordered


def address(name: str) -> tuple[str, int]:
    """Return an address by a short name."""
    return name, 9092


def candidate(
    name: str, *, bootstrap: bool = False, failures: int = 0, retry_at: float = 0, last_used: float = 0
) -> Candidate:
    """Return a broker at rest, except for the arguments."""
    return Candidate(address(name), bootstrap, failures, retry_at, last_used)


def test_backoff_comes_last_and_failures_behind_the_good() -> None:
    """A broker in backoff is last; one that failed lately comes after all that did not, even as bootstrap server."""
    waiting = candidate("waiting", bootstrap=True, failures=1, retry_at=11)
    failed = candidate("failed", bootstrap=True, failures=3, retry_at=10)
    node = candidate("node")
    assert ordered([waiting, failed, node], now=10) == [address("node"), address("failed"), address("waiting")]


def test_bootstrap_servers_before_nodes() -> None:
    """The configuration says what the cluster is."""
    assert ordered([candidate("node"), candidate("boot", bootstrap=True, last_used=9)], now=10)[0] == address("boot")


def test_equals_take_turns() -> None:
    """Among equals the least recently used is first; at the start the given order holds."""
    assert ordered([candidate("a", last_used=5), candidate("b", last_used=3)], now=10)[0] == address("b")
    assert ordered([candidate("b"), candidate("a")], now=10)[0] == address("b")


def test_fresh_connections_go_round_the_bootstrap_servers() -> None:
    """The one that waited longest for its turn is first, however recent its other uses are."""
    a = Candidate(("a", 1), True, 0, 0, 9.0, renewed_at=5.0)
    b = Candidate(("b", 1), True, 0, 0, 10.0, renewed_at=3.0)
    node = Candidate(("n", 1), False, 0, 0, 1.0)
    assert fresh_first([node, a, b], 11.0) == [("b", 1), ("a", 1), ("n", 1)]


def test_one_server_that_failed_is_tried_first_the_others_last() -> None:
    """Otherwise it would not be asked again while a node answers; two that hang would use up the poll's time."""
    failed = [Candidate((name, 1), True, 3, 4.0, 4.0, renewed_at) for name, renewed_at in (("a", 2.0), ("b", 1.0))]
    node = Candidate(("n", 1), False, 0, 0, 1.0)
    assert fresh_first([*failed, node], 5.0) == [("b", 1), ("n", 1), ("a", 1)]


def test_a_server_in_backoff_is_not_first() -> None:
    """Its turn comes when the backoff is over; meanwhile a node answers."""
    waiting = Candidate(("a", 1), True, 1, 6.0, 4.0)
    node = Candidate(("n", 1), False, 0, 0, 1.0)
    assert fresh_first([waiting, node], 5.0) == [("n", 1), ("a", 1)]
    assert fresh_first([], 5.0) == []
