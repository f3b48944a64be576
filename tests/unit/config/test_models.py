"""kproxy.config.models: checks across virtual clusters, and properties of every model."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from kproxy.config import Config
from tests.support.every import every
from tests.unit.config.problems import problems_of


def cluster(name: str, listen: str, **nodes: Any) -> dict[str, Any]:
    """Return a virtual cluster as YAML yields it."""
    return {"name": name, "bootstrap_servers": ["b:1"], "listen": listen, "nodes": nodes}


def models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield the model and all models inside it."""
    yield model
    for field in model.model_fields.values():
        for kind in _kinds(field.annotation):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from models(kind)


def _kinds(annotation: Any) -> Iterator[Any]:
    yield annotation
    if isinstance(annotation, types.GenericAlias | types.UnionType) or typing.get_origin(annotation):
        for inner in typing.get_args(annotation):
            yield from _kinds(inner)


def test_the_models_are_all_found() -> None:
    """The tests below need all of them."""
    names = {model.__name__ for model in models(Config)}
    assert names >= {"Upstream", "Failover"}
    assert names >= {"Config", "VirtualCluster", "Nodes", "NodeRange", "HostPort", "Admin", "Limits", "Timeouts", "Log"}


MODELS = sorted(set(models(Config)), key=lambda model: model.__name__)


@every("model", MODELS)
def test_every_field_is_documented(model: type[BaseModel]) -> None:
    """Each model has a docstring, each field a sentence; both are frozen and strict about keys."""
    assert model.__doc__
    assert (model.model_config.get("frozen"), model.model_config.get("extra")) == (True, "forbid")
    for name, field in model.model_fields.items():
        assert field.description, name
        assert field.description.endswith("."), name


def test_defaults_are_kafkas_and_the_briefs() -> None:
    """Only clusters are required."""
    config = Config.model_validate({"clusters": [cluster("a", "a:9092")]})
    assert config.limits.max_request_bytes == 104857600
    assert config.limits.max_response_bytes == 2**31 - 1
    assert (config.admin, config.limits.max_connections) == (None, None)
    assert (config.timeouts.connect, config.topology.interval, config.drain.deadline) == (10, 30, 30)
    topology = config.topology
    assert (topology.epoch_floor, topology.grace, topology.retired, config.drain.rebootstrap) == (
        10,
        300,
        "serve",
        False,
    )
    assert (config.log.level, config.log.format) == ("info", "auto")


def test_a_config_made_in_code_reads_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only load looks at KPROXY_ variables."""
    monkeypatch.setenv("KPROXY_LOG__LEVEL", "debug")
    config = Config.model_validate({"clusters": [cluster("a", "a:9092")]})
    assert Config(clusters=config.clusters).log.level == "info"


def test_frozen() -> None:
    """No code can change a configuration that other code uses."""
    config = Config.model_validate({"clusters": [cluster("a", "a:9092")]})
    with pytest.raises(ValidationError):
        config.admin = None


def test_what_is_dumped_loads_again() -> None:
    """kproxy can read the output of `config show`."""
    data = {"clusters": [cluster("a", "[::1]:9092", strategy="offset", ranges=["0-2", 7])], "admin": "a:1"}
    config = Config.model_validate(data)
    assert Config.model_validate(config.model_dump(mode="json")) == config


@pytest.mark.parametrize(
    ("clusters", "admin", "problems"),
    [
        ([cluster("a", "x:1"), cluster("a", "y:1")], None, ["clusters.1.name: 'a' is also the name of clusters.0"]),
        (
            [cluster("a", "0.0.0.0:9092"), cluster("b", "127.0.0.1:9092", first_port=9999)],
            None,
            ["clusters.1.listen: port 9092 is also that of clusters.0.listen"],
        ),
        (
            [cluster("a", "0.0.0.0:9092")],
            "127.0.0.1:9093",
            ["clusters.0.nodes.first_port: port 9093 is also that of admin.listen"],
        ),
        (
            [cluster("a", "0.0.0.0:9092"), cluster("b", "0.0.0.0:9093", first_port=9999)],
            None,
            ["clusters.0.nodes.first_port: port 9093 is also that of clusters.1.listen"],
        ),
        (
            [cluster("a", "h:9092", strategy="offset", ranges=["0-9"]), cluster("b", "h:1", first_port=9102)],
            "h:9095",
            [
                "clusters.0.nodes.first_port: port 9095 is also that of admin.listen",
                "clusters.1.nodes.first_port: port 9102 is also that of clusters.0.nodes.first_port",
            ],
        ),
        (
            [cluster("a", "h:9092")],
            "h:9092",
            ["admin.listen: port 9092 is also that of clusters.0.listen"],
        ),
        ([], None, ["clusters: must not be empty"]),
        ([3], None, ["clusters.0: must be a mapping, not 3"]),
        ("a:1", None, ["clusters: must be a list, not 'a:1'"]),
    ],
)
def test_what_must_hold_together(clusters: Any, admin: str | None, problems: list[str]) -> None:
    """Names and ports must be unique; every problem is reported."""
    assert problems_of(Config, {"clusters": clusters, "admin": admin}) == problems


def test_clusters_that_share_no_port_are_taken() -> None:
    """Open claims side by side, compact ranges end to end, any free ports."""
    ranges = {"strategy": "offset", "ranges": ["0-8"]}
    clusters = [cluster("a", "h:9092"), cluster("b", "h:9192", **ranges), cluster("c", "h:9202"), cluster("d", "h:0")]
    config = Config.model_validate({"clusters": clusters, "admin": "h:0"})
    assert [claim.ports for claim in config.claims()] == [
        "9092", "9192", "9202", "any free port", "any free port",
        "9093 and up", "9193-9201", "9203 and up", "any free port",
    ]  # fmt: skip
