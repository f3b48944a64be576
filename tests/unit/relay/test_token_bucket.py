"""Token buckets: their rate, their burst, and what is remembered."""

from __future__ import annotations

import pytest

from kproxy.relay.token_bucket import TokenBucket, TokenBuckets


def test_a_burst_and_then_the_rate() -> None:
    """A full bucket holds the burst; an empty one gains `rate` tokens a second, up to the burst."""
    bucket = TokenBucket(rate=10, burst=20)
    assert bucket.available(1000.0) == 20
    bucket.take(20, 1000.0)
    assert bucket.available(1000.0) == 0
    assert bucket.available(1000.55) == 5
    assert bucket.available(5000.0) == 20


def test_taking_more_than_there_is() -> None:
    """A debt is paid off before there is a token again."""
    bucket = TokenBucket(rate=10, burst=10)
    bucket.take(15, 1.0)
    assert bucket.available(1.0) < 1
    assert bucket.available(1.45) == 0
    assert bucket.available(1.65) == 1


def test_tokens_that_are_given_back() -> None:
    """They can be taken again at once, and the bucket holds no more than its burst."""
    bucket = TokenBucket(rate=10, burst=10)
    bucket.take(10, 1.0)
    bucket.give_back(4)
    assert bucket.available(1.01) == 4
    bucket.give_back(60)
    assert bucket.available(1.01) == 10


def test_when_there_is_a_token() -> None:
    """At once while there are some; then at a time from which on one is there."""
    bucket = TokenBucket(rate=4, burst=2)
    bucket.take(1, 1.0)
    assert bucket.due <= 1.0
    bucket.take(2, 1.0)
    assert bucket.due == 1.5
    assert bucket.available(1.25) == 0
    assert bucket.available(bucket.due) == 1


@pytest.mark.parametrize("rate", [1, 3, 7, 500])
def test_each_key_has_a_bucket(rate: int) -> None:
    """A key gets its burst and then its rate, whatever another one takes; fractions of seconds lose no token."""
    buckets = TokenBuckets(rate, burst=2 * rate)
    assert sum(buckets.take("greedy", 50.0) for _ in range(10 * rate)) == 2 * rate
    assert buckets.take("modest", 50.0)
    assert sum(buckets.take("greedy", 51.0) for _ in range(10 * rate)) == rate


def test_full_buckets_are_forgotten() -> None:
    """A hundred thousand addresses that come once each, a thousand a second, leave a few hundred entries at most."""
    buckets = TokenBuckets(rate=10, burst=20)
    most = 0
    for number in range(100_000):
        assert buckets.take(f"address {number}", number / 1000)
        most = max(most, len(buckets))
    assert most < 500


def test_an_entry_that_is_not_full_is_kept() -> None:
    """Forgetting is no way to a new burst."""
    buckets = TokenBuckets(rate=1, burst=5)
    for _ in range(5):
        assert buckets.take("greedy", 0.0)
    for number in range(1000):
        buckets.take(f"address {number}", 0.5)
        assert not buckets.take("greedy", 0.5)
