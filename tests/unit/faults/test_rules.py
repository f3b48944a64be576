"""kproxy.faults.rules: which requests are hit, how often, and until when."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproxy.config.faults import API_KEYS, FaultRule
from kproxy.errors import ConflictError, NotFoundError
from kproxy.faults.rules import MOST_RULES, Rule, Rules
from kproxy.wire.generated.api_keys import ApiKey

PRODUCE = ApiKey.PRODUCE
JAVA = ("apache-kafka-java", "4.1.0")


def settings(**fields: Any) -> FaultRule:
    """A rule that ends connections at Produce requests, unless the fields say otherwise."""
    return FaultRule.model_validate({"api": "Produce", "close": True} | fields)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rules(clock: Clock) -> Rules:
    return Rules(clock, random.Random(7).random)


def hit(rules: Rules, client_id: str | None = "orders-1", software: tuple[str, str] | None = JAVA) -> Rule | None:
    """The rule that hits a Produce request of this client."""
    return rules.hit(PRODUCE, client_id, software)


@pytest.mark.parametrize(
    ("fields", "client_id", "software", "expected"),
    [
        ({}, None, None, True),
        ({"client_id": "orders-.*"}, "orders-1", None, True),
        ({"client_id": "orders"}, "orders-1", None, False),
        ({"client_id": "orders-.*"}, None, None, False),
        ({"client_id": ".*"}, None, None, True),
        ({"software": "apache-kafka-java 4.*"}, "orders-1", JAVA, True),
        ({"software": "librdkafka .*"}, "orders-1", JAVA, False),
        ({"software": "apache.*"}, "orders-1", None, False),
        ({"client_id": "orders-.*", "software": "librdkafka .*"}, "orders-1", JAVA, False),
    ],
)
def test_clients(
    rules: Rules, fields: dict[str, Any], client_id: str | None, software: tuple[str, str] | None, expected: bool
) -> None:
    """The whole client id and the whole software must match, where a rule names them."""
    rule = rules.add(settings(**fields))
    assert hit(rules, client_id, software) is (rule if expected else None)
    assert rule.hits == expected


def test_another_api(rules: Rules) -> None:
    """A rule is about one API."""
    rules.add(settings())
    assert rules.hit(ApiKey.FETCH, "orders-1", JAVA) is None


def test_rate(rules: Rules) -> None:
    """A seed makes the same choices each time, and about the share that the rule says."""
    rules.add(settings(rate=0.1))
    hits = [hit(rules) is not None for _ in range(1000)]
    again = Rules(lambda: 0.0, random.Random(7).random)
    again.add(settings(rate=0.1))
    assert hits == [hit(again) is not None for _ in range(1000)]
    assert 70 <= sum(hits) <= 130


def test_a_rate_of_one_asks_no_chance() -> None:
    """Every request is hit."""

    def never() -> float:
        raise AssertionError

    rules = Rules(lambda: 0.0, never)
    rules.add(settings())
    assert hit(rules) is not None


def test_expiry(rules: Rules, clock: Clock) -> None:
    """A rule with a duration is over behind it, and then shown no more."""
    rule = rules.add(settings(duration="5m"))
    assert rules.left(rule) == 300.0
    clock.now += 299.9
    assert hit(rules) is rule
    clock.now += 0.1
    assert (hit(rules), rules.all(), rules.left(rule)) == (None, [], 0.0)
    assert rules.left(rules.add(settings())) is None


def test_count(rules: Rules) -> None:
    """A rule with a count is over when it has hit so many; one that was spared is not counted."""
    rule = rules.add(settings(count=2))
    assert hit(rules) is hit(rules) is rule
    rule.spare()
    assert hit(rules) is rule
    assert (hit(rules), rules.all()) == (None, [])


def test_the_first_rule_that_hits_counts(rules: Rules) -> None:
    """A request that the first one spares may be hit by the next."""
    first = rules.add(settings(client_id="orders-1"))
    second = rules.add(settings())
    assert (hit(rules, "orders-1"), hit(rules, "orders-2")) == (first, second)
    assert [rule.number for rule in rules.all()] == [1, 2]


def test_remove(rules: Rules, clock: Clock) -> None:
    """By number; what is gone, over, or in the configuration cannot be removed, and the error says why."""
    rules.add(settings(), fixed=True)
    added = rules.add(settings(duration=5))
    assert rules.remove(2) is added
    rules.add(settings(duration=5))
    clock.now += 5
    for number in (2, 3, 4):
        with pytest.raises(NotFoundError, match=f"there is no rule {number}"):
            rules.remove(number)
    with pytest.raises(ConflictError, match="rule 1 is in the configuration"):
        rules.remove(1)


def test_find(rules: Rules, clock: Clock) -> None:
    """A rule is found by its number, also when it is over, until it is removed."""
    over, removed = rules.add(settings(duration=5)), rules.add(settings())
    clock.now += 5
    rules.add(settings())
    assert rules.find(over.number) is over
    assert rules.find(removed.number) is rules.remove(removed.number)
    with pytest.raises(NotFoundError, match="there is no rule 2"):
        rules.find(removed.number)
    rules.clear(fixed=False)
    with pytest.raises(NotFoundError, match="there is no rule 1"):
        rules.find(over.number)


def test_the_oldest_are_forgotten(rules: Rules) -> None:
    """Of rules that are over the newest `MOST_RULES` are found, and of the others all."""
    lasting = rules.add(settings())
    for _ in range(MOST_RULES + 1):
        over = rules.add(settings(api="Fetch", count=1))
        assert rules.hit(ApiKey.FETCH, "orders-1", JAVA) is over
    assert rules.find(lasting.number) is lasting
    with pytest.raises(NotFoundError, match="there is no rule 2"):
        rules.find(2)


def test_clear(rules: Rules) -> None:
    """All that the configuration has, or all others; numbers are never used again."""
    rules.add(settings(), fixed=True)
    rules.add(settings())
    rules.add(settings(api="Fetch"))
    assert rules.clear(fixed=False) == 2
    assert [rule.fixed for rule in rules.all()] == [True]
    assert rules.clear(fixed=True) == 1
    assert rules.add(settings()).number == 4


def test_too_many(rules: Rules, clock: Clock) -> None:
    """A limit keeps requests quick; rules that are over make room."""
    for _ in range(MOST_RULES):
        rules.add(settings(duration=5))
    with pytest.raises(ConflictError, match="1000 rules"):
        rules.add(settings())
    clock.now += 5
    rules.add(settings())
    assert len(rules.all()) == 1


_RULES = st.fixed_dictionaries(
    {
        "api": st.sampled_from(sorted(API_KEYS)[:3]),
        "rate": st.sampled_from([0.25, 1.0]),
        "count": st.none() | st.integers(1, 5),
        "duration": st.none() | st.floats(0.5, 20),
    }
)
_STEPS = st.lists(st.tuples(st.sampled_from(sorted(API_KEYS)[:3]), st.floats(0, 3)), max_size=40)


@given(made=st.lists(_RULES, max_size=4), steps=_STEPS, seed=st.integers())
def test_no_rule_goes_beyond_what_it_says(
    made: list[dict[str, Any]], steps: list[tuple[str, float]], seed: int
) -> None:
    """Whatever comes when, a rule hits its own API only, within its time, and at most `count` requests."""
    clock = Clock()
    rules = Rules(clock, random.Random(seed).random)
    began = clock.now
    added = [rules.add(settings(**one)) for one in made]
    hits: dict[int, int] = {}
    for api, seconds in steps:
        clock.now += seconds
        rule = rules.hit(API_KEYS[api], "c", None)
        if rule is not None:
            hits[rule.number] = hits.get(rule.number, 0) + 1
            assert rule.settings.api == api
            assert rule.settings.duration is None or clock.now - began < rule.settings.duration
    for rule in added:
        assert rule.hits == hits.get(rule.number, 0) <= (rule.settings.count or len(steps))
