"""kproxy.config.reference, the JSON Schema and the docs' tables that it writes, and the examples in config/."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from kproxy.config import (
    BUILT_IN,
    DESTINATIONS,
    Admin,
    Config,
    Drain,
    Events,
    Failover,
    GroupRule,
    Identity,
    Limits,
    Log,
    Nodes,
    PlugIn,
    State,
    Subscription,
    Telemetry,
    Timeouts,
    Tls,
    Topology,
    Upstream,
    VirtualCluster,
    load,
)
from kproxy.config.authentication import Authentication, CertificateRule
from kproxy.config.client_credentials import ClientCredentials
from kproxy.config.environment import variables
from kproxy.config.faults import FaultRule, Faults
from kproxy.config.oauthbearer import OAuthBearer
from kproxy.config.process import Reload
from kproxy.config.proxy_protocol import ProxyProtocol
from kproxy.config.reference import json_schema, tables, with_tables, write
from kproxy.config.tls import AdminTls, ClientTls, UpstreamTls
from tests.support.every import every
from tests.unit.config.json_schema import flaws

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "config").glob("*.yaml"))
PAGE = ROOT / "docs" / "configuration.md"
SCHEMA: dict[str, Any] = json.loads(json_schema())
CLUSTER = {"name": "a", "bootstrap_servers": "a:1", "listen": "b:1"}
EVENTS = {"name": "f", "type": "files", "directory": "d"}


def keys() -> Iterator[tuple[str, Any]]:
    """Yield every setting by its name in the docs, with its default."""
    groups: dict[str, type[BaseModel]] = {
        "clusters[]": VirtualCluster,
        "clusters[].upstreams[]": Upstream,
        "clusters[].authentication": Authentication,
        "clusters[].authentication.oauthbearer": OAuthBearer,
        "clusters[].authentication.certificates[]": CertificateRule,
        "clusters[].identity": Identity,
        "clusters[].identity.client_credentials": ClientCredentials,
        "clusters[].failover": Failover,
        "clusters[].nodes": Nodes,
        "clusters[].telemetry": Telemetry,
        "clusters[].telemetry.subscriptions[]": Subscription,
        "clusters[].tls": ClientTls,
        "clusters[].upstream_tls": UpstreamTls,
        "clusters[].proxy_protocol": ProxyProtocol,
        "clusters[].groups[]": GroupRule,
        "clusters[].faults": Faults,
        "clusters[].faults.rules[]": FaultRule,
        "admin": Admin,
        "admin.tls": AdminTls,
        "limits": Limits,
        "timeouts": Timeouts,
        "topology": Topology,
        **{f"receivers[{kind}]": model for kind, model in BUILT_IN.items()},
        "receivers[].tls": Tls,
        "receivers[kafka].tls": UpstreamTls,
        "receivers[kafka].identity": Identity,
        "receivers[plug-in]": PlugIn,
        "events": Events,
        **{f"events.destinations[{kind}]": model for kind, model in DESTINATIONS.items()},
        "events.destinations[kafka].tls": UpstreamTls,
        "events.destinations[kafka].identity": Identity,
        "state": State,
        "reload": Reload,
        "drain": Drain,
        "log": Log,
    }
    for group, model in groups.items():
        yield from (
            (f"{group}.{name}", field)
            for name, field in model.model_fields.items()
            if name
            not in (
                *("nodes", "failover", "telemetry", "tls", "upstream_tls"),
                *("proxy_protocol", "identity", "client_credentials", "authentication", "oauthbearer", "faults"),
            )
        )


@every("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_load(example: Path) -> None:
    """kproxy accepts each example without any variable."""
    assert load(example, {}, {}).clusters


@every("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_please_an_editor(example: Path) -> None:
    """Each example refers to the schema in its first line and fits it, short forms included."""
    text = example.read_text()
    assert text.startswith("# yaml-language-server: $schema=kproxy.schema.json\n# ")
    assert list(flaws(SCHEMA, yaml.safe_load(text), SCHEMA)) == []


def test_the_schema_fits_every_form() -> None:
    """The schema fits long and short forms of each setting, and the output of `config show`."""
    nodes = {"strategy": "offset", "ranges": ["0-2", 5, {"first": 7, "last": 9}], "first_port": 9093}
    cluster = CLUSTER | {"bootstrap_servers": ["a:1", {"host": "::1", "port": 2}], "nodes": nodes}
    data = {"clusters": [cluster], "admin": {"listen": "[::1]:2"}, "timeouts": {"connect": 1, "stalled_frame": "5m"}}
    assert list(flaws(SCHEMA, data, SCHEMA)) == []
    shown = Config.model_validate(data).model_dump(mode="json")
    assert list(flaws(SCHEMA, shown, SCHEMA)) == []
    upstreams = [{"name": "east", "bootstrap_servers": "a:1"}, {"name": "west", "bootstrap_servers": ["b:1"]}]
    several = {"name": "a", "listen": "b:1", "upstreams": upstreams, "failover": {"automatic": True, "floor": "1h"}}
    assert list(flaws(SCHEMA, {"clusters": [several]}, SCHEMA)) == []
    secret = CLUSTER | {"identity": {"mechanism": "PLAIN", "username": "a", "password": "b"}}
    assert list(flaws(SCHEMA, {"clusters": [secret]}, SCHEMA)) == []
    shown = Config.model_validate({"clusters": [secret]}).model_dump(mode="json")
    assert list(flaws(SCHEMA, shown, SCHEMA)) == []


def test_the_schema_fits_events() -> None:
    """The schema fits both types of destination, also as `config show` prints them."""
    topic = {"name": "k", "type": "kafka", "topic": "t", "bootstrap_servers": "a:1,b:1", "linger": "1s"}
    data = {"clusters": [CLUSTER], "events": {"destinations": [EVENTS, topic], "interval": "1m", "instance": "one"}}
    assert list(flaws(SCHEMA, data, SCHEMA)) == []
    assert list(flaws(SCHEMA, Config.model_validate(data).model_dump(mode="json"), SCHEMA)) == []


def test_the_schema_fits_telemetry() -> None:
    """The schema fits every type of receiver, with lists as text, also as `config show` prints them."""
    subscriptions = [{"name": "a", "metrics": "*", "match": {"client_id": "x.*"}}]
    data = {
        "clusters": [CLUSTER | {"telemetry": {"interval": "1m", "subscriptions": subscriptions, "receivers": "p,o"}}],
        "receivers": [
            {"name": "p", "type": "prometheus", "labels": "client_id", "constant": {"a": "b"}},
            {"name": "o", "type": "otlp", "url": "https://c", "headers": {"k": "secret"}, "tls": {"ca": "f"}},
            {"name": "k", "type": "kafka", "topic": "t", "bootstrap_servers": "a:1"},
            {"name": "f", "type": "files", "directory": "d", "keep_bytes": "10GiB"},
            {"name": "m", "type": "mine", "options": {"depth": {"more": [1]}}},
        ],
    }
    assert list(flaws(SCHEMA, data, SCHEMA)) == []
    assert list(flaws(SCHEMA, Config.model_validate(data).model_dump(mode="json"), SCHEMA)) == []


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"clusters": []},
        {"clusters": [{}]},
        {"clusters": [CLUSTER | {"lissten": 1}]},
        {"clusters": [CLUSTER | {"listen": "b"}]},
        {"clusters": [CLUSTER | {"listen": 9092}]},
        {"clusters": [CLUSTER | {"name": "A"}]},
        {"clusters": [CLUSTER | {"upstreams": [{"name": "a"}]}]},
        {"clusters": [CLUSTER | {"upstreams": [{"name": "A", "bootstrap_servers": "a:1"}]}]},
        {"clusters": [CLUSTER | {"failover": {"automatic": 1}}]},
        {"clusters": [CLUSTER | {"identity": {"mechanism": "GSSAPI"}}]},
        {"clusters": [CLUSTER | {"identity": {"mechanism": "PLAIN", "password": 1}}]},
        {"clusters": [CLUSTER], "topology": {"retired": "perhaps"}},
        {"clusters": [CLUSTER | {"nodes": {"strategy": "random"}}]},
        {"clusters": [CLUSTER | {"nodes": {"ranges": ["x"]}}]},
        {"clusters": [CLUSTER | {"nodes": {"first_port": 65536}}]},
        {"clusters": [CLUSTER], "admin": 5},
        {"clusters": [CLUSTER | {"telemetry": True}]},
        {"clusters": [CLUSTER | {"telemetry": {"admin": "me"}}]},
        {"clusters": [CLUSTER | {"telemetry": {"subscriptions": [{"name": "a"}]}}]},
        {"clusters": [CLUSTER | {"telemetry": {"subscriptions": [{"name": "a", "metrics": "*", "match": "b"}]}}]},
        {"clusters": [CLUSTER], "receivers": [{"name": "p"}]},
        {"clusters": [CLUSTER], "receivers": [{"name": "o", "type": "otlp"}]},
        {"clusters": [CLUSTER], "receivers": [{"name": "p", "type": "prometheus", "url": "http://c"}]},
        {"clusters": [CLUSTER], "receivers": [{"name": "m", "type": "mine", "depth": 1}]},
        {"clusters": [CLUSTER], "receivers": [{"name": "o", "type": "otlp", "url": "u", "headers": {"k": 1}}]},
        {"clusters": [CLUSTER], "events": {"destinations": [{"name": "k", "type": "kafka"}]}},
        {"clusters": [CLUSTER], "events": {"destinations": [{"name": "o", "type": "otlp", "url": "u"}]}},
        {"clusters": [CLUSTER], "events": {"destinations": [EVENTS | {"prefix": "-"}]}},
        {"clusters": [CLUSTER], "events": {"interval": 0}},
        {"clusters": [CLUSTER], "state": {"path": 1}},
        {"clusters": [CLUSTER], "limits": {"max_connections": 0}},
        {"clusters": [CLUSTER], "limits": {"max_held_bytes": "1TiB"}},
        {"clusters": [CLUSTER], "timeouts": {"connect": 0}},
        {"clusters": [CLUSTER], "drain": {"deadline": "soon"}},
        {"clusters": [CLUSTER], "log": {"level": "loud"}},
    ],
)
def test_the_schema_marks_mistakes(data: dict[str, Any]) -> None:
    """An editor marks mistakes of form that kproxy refuses."""
    assert list(flaws(SCHEMA, data, SCHEMA))


def test_everything_in_the_schema_is_described() -> None:
    """Every setting has a description, which editors show on hover."""
    for name, model in SCHEMA["$defs"].items():
        assert model["description"], name
        assert model["title"], name
    text = json.dumps(SCHEMA)
    assert all(json.dumps(field.description) in text for _, field in keys())


def test_all_settings_names_every_setting_with_its_default() -> None:
    """config/all-settings.yaml promises to be complete and to change nothing."""
    data = yaml.safe_load((ROOT / "config" / "all-settings.yaml").read_text())
    written = load(ROOT / "config" / "all-settings.yaml", {}, {})
    plain = Config.model_validate(
        {"clusters": [{k: data["clusters"][0][k] for k in ("name", "bootstrap_servers", "listen")}]}
    )
    assert written == plain
    assert _names(data["clusters"][0]) == {
        name for model in (VirtualCluster, Failover, Nodes, ProxyProtocol, Faults) for name in model.model_fields
    }
    assert set(data) == set(Config.model_fields)
    assert all(set(data[group]) == set(_model(group).model_fields) for group in data if isinstance(data[group], dict))


def _names(mapping: dict[str, Any]) -> set[str]:
    return set(mapping).union(*(_names(value) for value in mapping.values() if isinstance(value, dict)))


def _model(group: str) -> type[BaseModel]:
    model = Config.model_fields[group].annotation
    assert isinstance(model, type)
    assert issubclass(model, BaseModel)
    return model


def test_the_docs_list_every_setting_with_default_and_variable() -> None:
    """Each key has a row; this does not use the code that makes the table."""
    rows = dict(re.findall(r"^\| `([^`]+)` \| (.*) \|$", PAGE.read_text(), re.MULTILINE))
    for key, field in keys():
        default, names, meaning = rows.pop(key).split(" | ")
        assert (default, meaning) == (_default(field), field.description), key
        lists = (
            "clusters[].upstreams[]",
            "clusters[].telemetry.subscriptions[]",
            "clusters[].groups[]",
            "clusters[].faults.rules[]",
            "clusters[].authentication.certificates[]",
            "receivers[",
            "events.destinations[",
        )
        in_a_list = key.startswith(lists)
        assert names == "–" if in_a_list else names.split()[0].strip("`") in variables(), key
    assert not [key for key in rows if "." in key and "/" not in key]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if isinstance(field.default, tuple) and field.default:
        return f"`{','.join(field.default)}`"
    return "–" if field.default in (None, (), {}) else f"`{yaml.safe_dump(field.default).split()[0]}`"


def test_the_docs_name_every_example() -> None:
    """Readers look for an example by its purpose."""
    assert all(f"`config/{example.name}`" in PAGE.read_text() for example in EXAMPLES)


def test_what_is_written_is_up_to_date() -> None:
    """`python -m kproxy.config.reference` would change nothing."""
    assert (ROOT / "config" / "kproxy.schema.json").read_text() == json_schema()
    assert with_tables(PAGE.read_text()) == PAGE.read_text()
    assert tables() in PAGE.read_text()


def test_both_are_written(tmp_path: Path) -> None:
    """Both are written into a tree with a page that has lost its tables."""
    for directory in ("config", "docs"):
        (tmp_path / directory).mkdir()
    page = tmp_path / "docs" / "configuration.md"
    page.write_text(re.sub(r"(?s)(<!-- begin.*?-->).*(<!-- end -->)", r"\1\n\2", PAGE.read_text()))
    assert page.read_text() != PAGE.read_text()
    write(tmp_path)
    assert page.read_text() == PAGE.read_text()
    assert (tmp_path / "config" / "kproxy.schema.json").read_text() == json_schema()
