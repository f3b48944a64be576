"""kproxy.config.environment: flags, KPROXY_ variables, and other variables with that prefix."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.config.environment import (
    FLAGS,
    YAML_VALUES,
    Setting,
    flag,
    from_environment,
    from_flags,
    variables,
)
from tests.unit.config.problems import lines_of

# The kubelet's variables for a Service "kproxy" with the ports kafka (9092) and admin (9190), copied from a pod, and
# for a Service "kproxy-admin" beside it.
SERVICE_LINKS = {
    "KPROXY_SERVICE_HOST": "10.96.12.7",
    "KPROXY_SERVICE_PORT": "9092",
    "KPROXY_SERVICE_PORT_KAFKA": "9092",
    "KPROXY_SERVICE_PORT_NODE_0": "9093",
    "KPROXY_PORT": "tcp://10.96.12.7:9092",
    "KPROXY_PORT_9092_TCP": "tcp://10.96.12.7:9092",
    "KPROXY_PORT_9092_TCP_PROTO": "tcp",
    "KPROXY_PORT_9092_TCP_PORT": "9092",
    "KPROXY_PORT_9092_TCP_ADDR": "10.96.12.7",
    "KPROXY_PORT_53_UDP": "udp://10.96.12.7:53",
    "KPROXY_ADMIN_SERVICE_HOST": "10.96.12.8",
    "KPROXY_ADMIN_SERVICE_PORT": "9190",
    "KPROXY_ADMIN_PORT": "tcp://[fd00::8]:9190",
    "KPROXY_ADMIN_PORT_9190_TCP_ADDR": "fd00::8",
}


def test_every_setting_has_a_variable() -> None:
    """Two underscores join groups; a virtual cluster's settings have no prefix; flags have their own spelling."""
    names = variables()
    assert names["KPROXY_LISTEN"] == ("listen",)
    assert names["KPROXY_NODES__FIRST_PORT"] == ("nodes", "first_port")
    assert names["KPROXY_LIMITS__MAX_CONNECTIONS"] == ("limits", "max_connections")
    assert names["KPROXY_ADMIN"] == names["KPROXY_ADMIN__LISTEN"] == ("admin", "listen")
    assert names["KPROXY_ADMIN__ALLOWED_HOSTS"] == ("admin", "allowed_hosts")
    assert names["KPROXY_ADMIN__TLS__CERTIFICATE"] == ("admin", "tls", "certificate")
    assert names["KPROXY_LOG_LEVEL"] == names["KPROXY_LOG__LEVEL"] == ("log", "level")
    assert names["KPROXY_CLUSTERS"] == ("clusters",)
    assert names["KPROXY_UPSTREAMS"] == ("upstreams",)
    assert names["KPROXY_FAILOVER__AUTOMATIC"] == ("failover", "automatic")
    assert names["KPROXY_GROUPS"] == ("groups",)
    assert names["KPROXY_TELEMETRY__SUBSCRIPTIONS"] == ("telemetry", "subscriptions")
    assert names["KPROXY_RECEIVERS"] == ("receivers",)
    assert names["KPROXY_EVENTS__DESTINATIONS"] == ("events", "destinations")
    assert len(set(names.values())) == 134


def test_no_variable_is_refused_for_being_text() -> None:
    """A list is text with commas, or it is YAML, as a mapping is; the docs say which of them are YAML."""
    page = (Path(__file__).parents[3] / "docs" / "configuration.md").read_text()
    for name, path in variables().items():
        if row := next((line for line in page.splitlines() if f"| `{name}`" in line), ""):
            assert ("As a variable: YAML" in row) == (path in YAML_VALUES), name
        text = ("{}" if path[-1] == "required_claims" else "[]") if path in YAML_VALUES else "a,b"
        found = lines_of(None, {}, **{name: text, "KPROXY_LOG_FORMAT": "wrong"})
        assert not [line for line in found if "must be a list" in line or (name in line and "mapping" in line)]


def test_every_flag_has_a_variable_of_its_spelling() -> None:
    """--log-level is KPROXY_LOG_LEVEL, and so on."""
    spelled = {"KPROXY_" + flag(path).removeprefix("--").replace("-", "_").upper() for path in FLAGS}
    assert spelled <= variables().keys()


def test_no_setting_looks_like_a_service_link() -> None:
    """Otherwise Kubernetes would configure kproxy."""
    assert from_environment(SERVICE_LINKS) == ([], [])
    assert not SERVICE_LINKS.keys() & variables().keys()


def test_documented_exceptions() -> None:
    """Tools, file and URL of a running kproxy are not settings; empty and foreign variables are ignored."""
    environ = {
        "KPROXY_TOOLS": "/x",
        "KPROXY_SPARK_JARS": "/x",
        "KPROXY_ADMIN_URL": "http://127.0.0.1:9190",
        "KPROXY_CONFIG": "/y",
        "KPROXY_ADMIN": " ",
        "kproxy_listen": "a:1",
        "LISTEN": "a:1",
    }
    assert from_environment(environ) == ([], [])


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("KPROXY_BOOTSTRAP_SERVER", "a:1", "; did you mean KPROXY_BOOTSTRAP_SERVERS?"),
        ("KPROXY_NODE__FIRST_PORT", "9093", "; did you mean KPROXY_NODES__FIRST_PORT?"),
        ("KPROXY_LIMITS_MAX_CONNECTIONS", "5", "; did you mean KPROXY_LIMITS__MAX_CONNECTIONS?"),
        ("KPROXY_CONFIG_FILE", "x", "; did you mean KPROXY_CONFIG?"),
        ("KPROXY_PORT", "9092", ""),
        ("KPROXY_ZZZZ", "1", ""),
    ],
)
def test_unknown_variables_are_refused(name: str, value: str, hint: str) -> None:
    """A misspelt variable would silently do nothing."""
    _, problems = from_environment({name: value})
    assert [str(problem) for problem in problems] == [f"{name}: is no setting of kproxy{hint}"]


def test_two_spellings() -> None:
    """Both spellings may be given with the same value, not with different ones."""
    both = {"KPROXY_LOG_LEVEL": "debug", "KPROXY_LOG__LEVEL": "debug"}
    assert from_environment(both) == ([Setting(("log", "level"), "debug", "KPROXY_LOG_LEVEL")], [])
    assert lines_of(None, {"listen": "a:1", "bootstrap_servers": "b:1"}, **(both | {"KPROXY_LOG_LEVEL": "info"})) == [
        "KPROXY_LOG__LEVEL: differs from KPROXY_LOG_LEVEL, which means the same"
    ]


def test_flags() -> None:
    """None means not given; a name without a flag is a bug of the caller."""
    assert from_flags({"admin": "a:1", "log.level": None}) == [Setting(("admin", "listen"), "a:1", "--admin")]
    with pytest.raises(KeyError):
        from_flags({"limits.max_connections": 1})
