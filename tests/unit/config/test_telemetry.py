"""kproxy.config.telemetry: subscriptions, intervals and receivers."""

from __future__ import annotations

from typing import Any

import pytest

from kproxy.config import Config, Telemetry, load
from kproxy.telemetry import subscription
from kproxy.telemetry.service import MAX_BYTES
from tests.unit.config.problems import lines_of, problems_of

FLAGS = {"bootstrap_servers": "a:1", "listen": "h:1"}


def one(**changed: Any) -> dict[str, Any]:
    """Return telemetry with one subscription."""
    return {"subscriptions": [{"name": "a", "metrics": "*"} | changed]}


def test_defaults_are_kafkas() -> None:
    """The defaults equal those of the code that applies the rules."""
    telemetry = Telemetry()
    assert telemetry.interval * 1000 == subscription.DEFAULT_INTERVAL_MS
    assert telemetry.max_bytes == MAX_BYTES
    assert (telemetry.admin, telemetry.subscriptions, telemetry.receivers) == ("upstream", (), None)


@pytest.mark.parametrize("seconds", [subscription.MIN_INTERVAL_MS / 1000, subscription.MAX_INTERVAL_MS / 1000])
def test_intervals_as_kafka_takes_them(seconds: float) -> None:
    """Both bounds are accepted, and nothing beyond."""
    assert Telemetry.model_validate({"interval": seconds}).interval == seconds
    beyond = seconds * (0.9 if seconds < 1 else 1.1)
    assert problems_of(Telemetry, {"interval": beyond})[0].startswith("interval: must be at ")


@pytest.mark.parametrize(
    ("written", "metrics"),
    [("*", ("*",)), ([""], ("*",)), ("a.b, c.", ("a.b", "c.")), (["a.", "b."], ("a.", "b."))],
)
def test_metrics(written: Any, metrics: tuple[str, ...]) -> None:
    """A list, or text with commas; the empty prefix means all, as `*` does."""
    assert Telemetry.model_validate(one(metrics=written)).subscriptions[0].metrics == metrics


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"admin": "all"}, "admin: must be 'upstream', 'any' or 'none', not 'all'"),
        ({"max_bytes": 0}, "max_bytes: must be at least 1, not 0"),
        (one(metrics=""), "subscriptions.0.metrics: must not be empty"),
        (one(metrics=[]), "subscriptions.0.metrics: must not be empty"),
        (one(name=""), "subscriptions.0.name: must not be empty"),
        (one(interval="2h"), "subscriptions.0.interval: must be at most 3600, not 7200"),
        (one(match="client_id=a"), "subscriptions.0.match: must be a mapping, not 'client_id=a'"),
        (one(match={"client_id": 5}), "subscriptions.0.match.client_id: must be text"),
        (one(mtach={}), "subscriptions.0.mtach: is no setting; did you mean match?"),
        (
            {"subscriptions": one()["subscriptions"] * 2},
            "subscriptions.1.name: 'a' is also the name of subscriptions.0",
        ),
    ],
)
def test_bad_values(given: dict[str, Any], line: str) -> None:
    """Each problem is reported at its key."""
    (found,) = problems_of(Telemetry, given)
    assert found.startswith(line)


def test_receivers_that_are_not_there() -> None:
    """An unknown receiver is refused, with the names of the known ones."""
    cluster = {"name": "orders", "bootstrap_servers": "a:1", "listen": "h:1", "telemetry": {"receivers": "a,b"}}
    data = {"clusters": [cluster], "receivers": [{"name": "a", "type": "prometheus"}]}
    assert problems_of(Config, data) == ["clusters.0.telemetry.receivers.1: 'b' is no receiver; there are: a"]
    assert problems_of(Config, data | {"receivers": []}) == [
        "clusters.0.telemetry.receivers.0: 'a' is no receiver; there are: none",
        "clusters.0.telemetry.receivers.1: 'b' is no receiver; there are: none",
    ]


def test_by_variable() -> None:
    """One variable is enough to switch telemetry on; subscriptions are YAML."""
    assert load(None, FLAGS, {}).clusters[0].telemetry is None
    on = load(None, FLAGS, {"KPROXY_TELEMETRY__INTERVAL": "1m"}).clusters[0].telemetry
    assert on == Telemetry(interval=60)
    given = "[{name: a, metrics: '*', match: {client_id: x.*}}]"
    found = load(None, FLAGS, {"KPROXY_TELEMETRY__SUBSCRIPTIONS": given}).clusters[0].telemetry
    assert found == Telemetry.model_validate(one(match={"client_id": "x.*"}))
    wrong = lines_of(None, FLAGS, KPROXY_TELEMETRY__SUBSCRIPTIONS="[{name: a}]")
    assert wrong == ["KPROXY_TELEMETRY__SUBSCRIPTIONS: 0.metrics: is required"]
