"""The order in which brokers are asked when any will do."""

from __future__ import annotations

from kproxy.upstream.candidates import Candidate, ordered


def address(name: str) -> tuple[str, int]:
    """An address by a short name."""
    return name, 9092


def candidate(
    name: str, *, bootstrap: bool = False, failures: int = 0, retry_at: float = 0, last_used: float = 0
) -> Candidate:
    """A broker at rest, except for what is said."""
    return Candidate(address(name), bootstrap, failures, retry_at, last_used)


def test_backoff_comes_last_and_failures_behind_the_good() -> None:
    """Whoever waits out a backoff is last, whoever failed lately behind all that did not, even as bootstrap server."""
    waiting = candidate("waiting", bootstrap=True, failures=1, retry_at=11)
    failed = candidate("failed", bootstrap=True, failures=3, retry_at=10)
    node = candidate("node")
    assert ordered([waiting, failed, node], now=10) == [address("node"), address("failed"), address("waiting")]


def test_bootstrap_servers_before_nodes() -> None:
    """The configuration says what the cluster is."""
    assert ordered([candidate("node"), candidate("boot", bootstrap=True, last_used=9)], now=10)[0] == address("boot")


def test_equals_take_turns() -> None:
    """Among equals the one that rested longest is first; at the begin, the given order holds."""
    assert ordered([candidate("a", last_used=5), candidate("b", last_used=3)], now=10)[0] == address("b")
    assert ordered([candidate("b"), candidate("a")], now=10)[0] == address("b")
