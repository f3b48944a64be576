"""kproxy.config.receivers: the settings of each type, plug-ins, and secrets."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from pydantic import BaseModel

from kproxy.config import BUILT_IN, Config, Files, Kafka, Otlp, PlugIn, Prometheus, load
from kproxy.config.secret import secrets_of
from kproxy.telemetry.receivers import files, kafka, otlp, prometheus
from tests.unit.config.problems import lines_of, problems_of

CLUSTER = {"name": "orders", "bootstrap_servers": "a:1", "listen": "h:1"}
OTLP = {"name": "o", "type": "otlp", "url": "http://c:4318/v1/metrics"}
FLAGS = {"bootstrap_servers": "a:1", "listen": "h:1"}


def config(*receivers: Any, **cluster: Any) -> dict[str, Any]:
    """Return a configuration with receivers, as YAML yields it."""
    return {"clusters": [CLUSTER | cluster], "receivers": list(receivers)}


@pytest.mark.parametrize(
    ("given", "model"),
    [
        ({"name": "p", "type": "prometheus"}, Prometheus),
        (OTLP, Otlp),
        ({"name": "k", "type": "kafka", "topic": "t"}, Kafka),
        ({"name": "f", "type": "files", "directory": "d"}, Files),
        ({"name": "m", "type": "mine", "options": {"a": [1]}}, PlugIn),
    ],
)
def test_types(given: dict[str, Any], model: type[BaseModel]) -> None:
    """`type` alone selects the model; a dump loads again."""
    (receiver,) = Config.model_validate(config(given)).receivers
    assert type(receiver) is model
    assert Config.model_validate(config(receiver)).receivers == (receiver,)


PLACE = ("cluster", "bootstrap_servers", "tls", "identity")
"""What leads to the cluster that has a topic."""


@pytest.mark.parametrize(
    ("model", "made", "own", "instead"),
    [
        (Prometheus, prometheus.Prometheus, {"name"}, set()),
        (Otlp, otlp.Otlp, {"name", "url", "tls"}, set()),
        (Kafka, kafka.Kafka, {"name", "topic", "constant", *PLACE}, {"connect", "record"}),
        (Files, files.Files, {"name", "directory", "prefix", "constant"}, {"lines"}),
    ],
)
def test_options_are_those_of_the_receiver(
    model: type[BaseModel], made: type, own: set[str], instead: set[str]
) -> None:
    """Settings have the names and defaults of the receiver's parameters; `own` ones are there `instead` of others."""
    parameters = {
        name.replace("max_items", "max_pushes"): each for name, each in inspect.signature(made).parameters.items()
    }
    options = set(parameters) - {"rand"}
    assert set(model.model_fields) - {"type"} - own == options - own - instead
    for name in options - own - instead:
        assert model.model_fields[name].default == parameters[name].default, name


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        (3, ["receivers.0: must be a mapping, not int"]),
        ({}, ["receivers.0.type: is required: prometheus, otlp, kafka, files, or a plug-in's"]),
        ({"type": "otlp"}, ["receivers.0.name: is required", "receivers.0.url: is required"]),
        ({"name": "P", "type": "prometheus"}, ["receivers.0.name: 'P' is not a DNS label"]),
        ({"name": "p", "type": "prometheus", "label": "a"}, ["receivers.0.label: is no setting; did you mean labels?"]),
        ({"name": "p", "type": "otpl", "url": "u"}, ["receivers.0.url: is no setting of a plug-in, whose own stand"]),
        ({"name": "p", "type": 5}, ["receivers.0.type: must be text"]),
        ({"name": "p", "type": ""}, ["receivers.0.type: must not be empty"]),
        ({"name": "p", "type": "prometheus", "max_pushes": 0}, ["receivers.0.max_pushes: must be at least 1, not 0"]),
        (OTLP | {"linger": "soon"}, ["receivers.0.linger: 'soon' is not a duration"]),
        (OTLP | {"compression": "lz4"}, ["receivers.0.compression: must be 'none', 'gzip' or 'zstd', not 'lz4'"]),
        (OTLP | {"tls": {"key": "k"}}, ["receivers.0.tls.key: needs a certificate"]),
        (OTLP | {"url": "HTTP://c:4318/x", "tls": {"ca": "a"}}, ["receivers.0.tls: is for a url of https"]),
        ({"name": "k", "type": "kafka", "topic": "a b"}, ["receivers.0.topic: 'a b' is no topic"]),
        ({"name": "k", "type": "kafka", "topic": ".."}, ["receivers.0.topic: '..' is no topic"]),
        (
            {"name": "k", "type": "kafka", "topic": "t", "cluster": "orders", "bootstrap_servers": "b:1"},
            ["receivers.0.cluster: stands beside bootstrap_servers"],
        ),
        (
            {"name": "k", "type": "kafka", "topic": "t", "cluster": "audit"},
            ["receivers.0.cluster: 'audit' is no virtual cluster; there are: orders"],
        ),
        ({"name": "f", "type": "files", "directory": ""}, ["receivers.0.directory: must not be empty"]),
    ],
)
def test_bad_values(given: Any, lines: list[str]) -> None:
    """Each problem is reported at its key, as one of the type that was meant."""
    found = problems_of(Config, config(given))
    assert len(found) == len(lines)
    assert all(line.startswith(start) for line, start in zip(found, lines, strict=True))


def test_names_are_given_once() -> None:
    """Names must be unique: they are labels of metrics, and virtual clusters refer to them."""
    twice = config(OTLP, {"name": "o", "type": "prometheus"})
    assert problems_of(Config, twice) == ["receivers.1.name: 'o' is also the name of receivers.0"]


SAME = "receivers.1.constant: does not tell its series of orders from those of receivers.0: give one of both another"


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ({}, {}, True),
        ({"labels": "client_id,group_id"}, {"labels": ["group_id", "client_id"]}, True),
        ({"labels": "client_id"}, {"labels": "client_id,group_id"}, True),
        ({"constant": {"cluster": "x"}}, {"constant": {"cluster": "y"}}, True),
        ({"attributes": "topic"}, {}, True),
        ({"labels": "client_id"}, {}, False),
        ({"labels": "client_id"}, {"labels": "client_id,client_source_port"}, False),
        ({"constant": {"view": "a"}}, {}, False),
        ({"constant": {"view": "a"}}, {"constant": {"view": "b"}}, False),
    ],
)
def test_series_of_a_page_differ(first: dict[str, Any], second: dict[str, Any], alike: bool) -> None:
    """Two prometheus receivers of a virtual cluster must differ in a label that always has a value."""
    given = [{"name": name, "type": "prometheus"} | one for name, one in (("p", first), ("q", second))]
    data = config(*given, telemetry={})
    if alike:
        (line,) = problems_of(Config, data)
        assert line.startswith(SAME)
    else:
        Config.model_validate(data)
    Config.model_validate(config(*given, telemetry={"receivers": "q"}))
    Config.model_validate(config(given[0], OTLP, telemetry={}))


def test_secrets_are_not_shown() -> None:
    """Secrets are neither in the output of `config show`, nor in a repr, nor in a problem; the sender can read them."""
    given = config(
        OTLP | {"headers": {"Authorization": "hunter2"}}, {"name": "m", "type": "mine", "options": {"p": "hunter2"}}
    )
    made = Config.model_validate(given)
    assert "hunter2" not in str(made.model_dump(mode="json"))
    assert "hunter2" not in repr(made.receivers[0])
    assert made.model_dump(mode="json")["receivers"][1]["options"] == {"p": "**********"}
    assert isinstance(made.receivers[0], Otlp)
    assert made.receivers[0].headers["Authorization"].get_secret_value() == "hunter2"
    made = Config.model_validate(config(OTLP | {"url": "https://u:hunter2@c/v1?key=hunter2"}))
    assert made.model_dump(mode="json")["receivers"][0]["url"] == "https://**********@c/v1?key=**********"
    assert "hunter2" not in repr(made) + repr(made.receivers[0])
    (line,) = problems_of(Config, config(OTLP | {"headers": {"Authorization": 4711}}))
    assert line.startswith("receivers.0.headers.Authorization: must be text")
    assert "4711" not in line


def test_by_variable() -> None:
    """One variable holds all receivers as YAML, so that a Secret can hold it; a problem is reported at its place."""
    made = load(None, FLAGS, {"KPROXY_RECEIVERS": "[{name: p, type: prometheus, labels: 'client_id, group_id'}]"})
    assert [type(receiver) for receiver in made.receivers] == [Prometheus]
    assert isinstance(made.receivers[0], Prometheus)
    assert made.receivers[0].labels == ("client_id", "group_id")
    wrong = lines_of(None, FLAGS, KPROXY_RECEIVERS="[{name: p, type: prometheus, expiry: 0}]")
    assert wrong == ["KPROXY_RECEIVERS: 0.expiry: must be more than 0, not 0"]


def test_plug_ins_are_what_is_not_built_in() -> None:
    """Types that are not built in are plug-ins, in the JSON Schema as well."""
    excluded = PlugIn.model_json_schema()["properties"]["type"]["not"]["enum"]
    assert excluded == sorted(BUILT_IN)


def test_which_receivers_a_cluster_has() -> None:
    """Without telemetry it has none; without names all; otherwise those with these names."""
    receivers = [{"name": name, "type": "prometheus", "constant": {"r": name}} for name in ("a", "b")]

    def names(telemetry: Any) -> list[str]:
        made = Config.model_validate(config(*receivers, telemetry=telemetry))
        return [receiver.name for receiver in made.receivers_of(made.clusters[0])]

    assert names(None) == []
    assert names({}) == ["a", "b"]
    assert names({"receivers": "b"}) == ["b"]
    assert names({"receivers": []}) == []


@pytest.mark.parametrize("written", ["Bearer hunter2\n", "  Bearer hunter2\r\n", "Bearer hunter2"])
def test_the_line_end_of_a_secrets_file_is_no_part_of_it(written: str) -> None:
    """Kubernetes' Secrets and `echo` end with a newline, which no header may have."""
    made = Config.model_validate(config(OTLP | {"headers": {"Authorization": written}})).receivers[0]
    assert isinstance(made, Otlp)
    assert made.headers["Authorization"].get_secret_value() == "Bearer hunter2"


@pytest.mark.parametrize("value", ["hunter2\nX: y", "hunter2\0", "hunter2 é", "hunter2\x7f"])
def test_headers_that_http_cannot_carry(value: str) -> None:
    """They are refused by their name."""
    (line,) = problems_of(Config, config(OTLP | {"headers": {"Authorization": value}}))
    assert line.startswith("receivers.0.headers.Authorization: must be one line of printable ASCII")
    assert "hunter2" not in line


@pytest.mark.parametrize("name", ["Authorization: hunter2", "", "a b", "hunter2\n", 7])
def test_names_that_are_no_header(name: object) -> None:
    """A whole header in the place of its name is not shown."""
    (line,) = problems_of(Config, config(OTLP | {"headers": {"A": "b", name: "c"}}))
    assert line.startswith("receivers.0.headers: name 2 is no header's name")
    assert "hunter2" not in line


def test_all_secrets_of_receivers() -> None:
    """The log hides header values, their tokens, passwords and query values of URLs as they are sent, and options."""
    given = config(
        OTLP | {"headers": {"A": "Bearer tok"}, "url": "https://u:p%40ss@c/?k=v%20w&x"},
        {"name": "m", "type": "mine", "options": {"a": "one", "b": [{"c": "two"}, 3], "d": None}},
        {"name": "p", "type": "prometheus"},
    )
    found = set(secrets_of(Config.model_validate(given).receivers)) - {""}
    assert found == {"Bearer tok", "tok", "p%40ss", "p@ss", "v%20w", "v w", "x", "one", "two"}
