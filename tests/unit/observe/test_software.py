"""kproxy.observe.counters: clients choose these labels, but cannot abuse them."""

from __future__ import annotations

import pytest

from kproxy.observe.counters import MAX_LENGTH, SoftwareCounts, software_label


@pytest.mark.parametrize("text", ["a", "7", "apache-kafka-java", "4.3.1", "librdkafka", "1.0.0-rc1", "a" * MAX_LENGTH])
def test_what_kip_511_allows_is_the_label(text: str) -> None:
    """Names and versions of real clients are unchanged."""
    assert software_label(text) == text


@pytest.mark.parametrize(
    "text", [None, "", "-a", "a-", ".a", "a b", 'a"b', "a\n", "ä", "a_b", "a" * (MAX_LENGTH + 1), "\x00"]
)
def test_anything_else_is_unknown(text: str | None) -> None:
    """A text that KIP-511 forbids, one that is too long for a label, and a missing one are unknown."""
    assert software_label(text) == "unknown"


def test_connections_are_counted_by_pair() -> None:
    """Active falls when a connection ends, the total never does."""
    software = SoftwareCounts()
    pair = software.opened("librdkafka", "2.12.0")
    software.opened("librdkafka", "2.12.0")
    software.closed(pair)
    assert software.active == {("librdkafka", "2.12.0"): 1}
    assert software.total == {("librdkafka", "2.12.0"): 2}


def test_pairs_are_bounded() -> None:
    """A client with ever new versions counts as "other" until it closes; known pairs stay."""
    software = SoftwareCounts(limit=2)
    pairs = [software.opened("x", str(version)) for version in range(5)]
    assert pairs[2:] == [("other", "other")] * 3
    assert software.opened("x", "0") == ("x", "0")
    for pair in pairs:
        software.closed(pair)
    assert software.active == {("x", "0"): 1, ("x", "1"): 0, ("other", "other"): 0}
    assert len(software.total) == 3
