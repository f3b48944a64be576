"""kproxy.config.events: destinations, and the clusters of their topics."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from pydantic import BaseModel

from kproxy.config import Config, EventFiles, EventTopic, load
from kproxy.delivery.files import Files
from kproxy.delivery.kafka import Kafka
from tests.unit.config.problems import lines_of, problems_of

CLUSTERS = [
    {"name": "orders", "bootstrap_servers": "a:1", "listen": "h:1"},
    {"name": "audit", "bootstrap_servers": "a:1", "listen": "h:9001"},
]
FILES = {"name": "f", "type": "files", "directory": "d"}
TOPIC = {"name": "k", "type": "kafka", "topic": "t"}
FLAGS = {"bootstrap_servers": "a:1", "listen": "h:1"}


def config(*destinations: Any, clusters: int = 1, **events: Any) -> dict[str, Any]:
    """Return a configuration with an event stream, as YAML yields it."""
    return {"clusters": CLUSTERS[:clusters], "events": {"destinations": list(destinations), **events}}


def test_what_it_is_without() -> None:
    """The defaults: no destination, the host's name, every five minutes."""
    events = Config.model_validate({"clusters": CLUSTERS[:1]}).events
    assert (events.destinations, events.interval, events.instance) == ((), 300.0, None)


def test_types() -> None:
    """`type` selects the model; a dump loads again; a topic without a cluster is the only virtual cluster's."""
    made = Config.model_validate(config(FILES, TOPIC, interval="1m", instance="one")).events
    assert [type(each) for each in made.destinations] == [EventFiles, EventTopic]
    assert Config.model_validate(config(*made.destinations, interval="1m", instance="one")).events == made


PLACE = ("cluster", "bootstrap_servers", "tls", "identity")
"""What leads to the cluster that has a topic."""


@pytest.mark.parametrize(
    ("model", "made", "own", "instead"),
    [
        (
            EventTopic,
            Kafka,
            {"name", "topic", "cluster", "bootstrap_servers", "tls", "identity"},
            {"connect", "record"},
        ),
        (EventFiles, Files, {"name", "directory", "prefix"}, {"lines"}),
    ],
)
def test_options_are_those_of_delivery(model: type[BaseModel], made: type, own: set[str], instead: set[str]) -> None:
    """Settings have the same names and defaults as the parameters of the destination."""
    signature = inspect.signature(made).parameters
    parameters = {name.replace("max_items", "max_events"): each for name, each in signature.items()}
    options = set(parameters) - {"rand"} - own - instead
    assert set(model.model_fields) - {"type"} - own == options
    for name in options:
        assert model.model_fields[name].default == parameters[name].default, name


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (3, "events.destinations.0: must be a mapping, not int"),
        ({"name": "x"}, "events.destinations.0.type: is required: files, kafka"),
        ({"name": "x", "type": "otlp"}, "events.destinations.0.type: must be one of files, kafka, not 'otlp'"),
        ({"name": "x", "type": 5}, "events.destinations.0.type: must be one of files, kafka, not 5"),
        (FILES | {"prefix": "-x"}, "events.destinations.0.prefix: '-x' is no prefix of files"),
        (FILES | {"topic": "x"}, "events.destinations.0.topic: is no setting; known here: directory,"),
        (FILES | {"max_events": 0}, "events.destinations.0.max_events: must be at least 1, not 0"),
        (TOPIC | {"topic": ".."}, "events.destinations.0.topic: '..' is no topic"),
        (TOPIC | {"tls": {}}, "events.destinations.0.tls: needs bootstrap_servers: a virtual cluster's upstream has"),
        (
            TOPIC | {"identity": {"mechanism": "PLAIN", "username": "u", "password": "p"}},
            "events.destinations.0.identity: needs bootstrap_servers",
        ),
        (TOPIC | {"cluster": "x"}, "events.destinations.0.cluster: 'x' is no virtual cluster; there are: orders"),
        (
            TOPIC | {"cluster": "orders", "bootstrap_servers": "a:1"},
            "events.destinations.0.cluster: stands beside bootstrap_servers",
        ),
    ],
)
def test_bad_values(given: Any, line: str) -> None:
    """Each problem is reported at its key, as one of the type that was meant."""
    (found,) = problems_of(Config, config(given))
    assert found.startswith(line)


def test_which_cluster_has_the_topic() -> None:
    """With several virtual clusters, the topic's cluster is required."""
    (line,) = problems_of(Config, config(TOPIC, clusters=2))
    expected = (
        "events.destinations.0.cluster: is required, or bootstrap_servers, since there are several: orders, audit"
    )
    assert line == expected
    for said in ({"cluster": "audit"}, {"bootstrap_servers": "c:1"}):
        Config.model_validate(config(TOPIC | said, FILES, clusters=2))


def test_names_are_given_once() -> None:
    """Names must be unique, because they are labels of metrics."""
    (line,) = problems_of(Config, config(FILES, TOPIC | {"name": "f"}))
    assert line == "events.destinations.1.name: 'f' is also the name of events.destinations.0"


def test_by_variable() -> None:
    """One variable holds the destinations as YAML, others the other settings; a problem is reported at its place."""
    given = {"KPROXY_EVENTS__DESTINATIONS": "[{name: f, type: files, directory: d}]", "KPROXY_EVENTS__INTERVAL": "10s"}
    events = load(None, FLAGS, given).events
    assert (len(events.destinations), events.interval) == (1, 10.0)
    wrong = lines_of(None, FLAGS, KPROXY_EVENTS__DESTINATIONS="[{name: f, type: files}]")
    assert wrong == ["KPROXY_EVENTS__DESTINATIONS: 0.directory: is required"]
