"""kproxy.config.loading: the precedence of the sources, and the origin of each problem."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.config import ConfigProblems, HostPort, load
from kproxy.errors import ConfigError
from tests.unit.config.problems import lines_of

ONE = """\
clusters:
  - name: orders
    bootstrap_servers: a:1
    listen: 127.0.0.1:9092
admin: 127.0.0.1:9190
log: {level: warning}
"""
NO_BACKEND = "--bootstrap-servers: is required, unless there are upstreams (or KPROXY_BOOTSTRAP_SERVERS)"
TWO = """\
clusters:
  - {name: a, bootstrap_servers: "a:1", listen: "h:9092"}
  - {name: b, bootstrap_servers: "b:1", listen: "h:9192"}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file with one virtual cluster."""
    return write(tmp_path, ONE)


def write(directory: Path, text: str) -> Path:
    """Write a configuration file with this text."""
    path = directory / "kproxy.yaml"
    path.write_text(text)
    return path


def test_flags_only() -> None:
    """kproxy serve --bootstrap-servers --listen needs no file."""
    config = load(None, {"bootstrap_servers": "a:1,b:2", "listen": "0.0.0.0:9092"}, {})
    (cluster,) = config.clusters
    assert (cluster.name, list(map(str, cluster.bootstrap_servers)), cluster.first_port) == (
        "default",
        ["a:1", "b:2"],
        9093,
    )
    assert config.admin is None


def test_variables_only() -> None:
    """A container needs no file either: every setting of a single cluster has its variable."""
    environ = {
        "KPROXY_NAME": "orders",
        "KPROXY_BOOTSTRAP_SERVERS": "a:1",
        "KPROXY_LISTEN": "[::]:9092",
        "KPROXY_ADVERTISED_HOST": "k.example.com",
        "KPROXY_NODES__STRATEGY": "offset",
        "KPROXY_NODES__RANGES": "0-2,7",
        "KPROXY_NODES__ADVERTISED_FIRST_PORT": "30000",
        "KPROXY_ADMIN": "[::]:9190",
        "KPROXY_LIMITS__MAX_REQUEST_BYTES": "1MiB",
        "KPROXY_LIMITS__MAX_CONNECTIONS": "500",
        "KPROXY_TIMEOUTS__CONNECT": "500ms",
        "KPROXY_LOG_FORMAT": "json",
    }
    config = load(None, None, environ)
    (cluster,) = config.clusters
    assert (cluster.name, cluster.advertised_host, cluster.last_port) == ("orders", "k.example.com", 9096)
    assert (cluster.nodes.strategy, cluster.nodes.advertised_first_port) == ("offset", 30000)
    assert config.admin
    assert config.admin.listen == HostPort(host="::", port=9190)
    assert (config.limits.max_request_bytes, config.limits.max_connections) == (2**20, 500)
    assert (config.timeouts.connect, config.log.format) == (0.5, "json")


def test_the_real_environment_is_the_default(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    """KPROXY_CONFIG names the file when no flag does, and variables come from the process."""
    monkeypatch.setenv("KPROXY_CONFIG", str(file))
    monkeypatch.setenv("KPROXY_LOG__LEVEL", "error")
    assert load(None).log.level == "error"


def test_precedence(file: Path) -> None:
    """For each setting, a flag wins over a variable, that over the file, and that over the default."""
    environ = {
        "KPROXY_LISTEN": "h:2",
        "KPROXY_ADMIN": "h:3",
        "KPROXY_NODES__FIRST_PORT": "7000",
        "KPROXY_CONFIG": "/nowhere",
    }
    config = load(file, {"listen": "h:1", "log.level": "debug"}, environ)
    (cluster,) = config.clusters
    assert (cluster.name, str(cluster.listen), cluster.first_port) == ("orders", "h:1", 7000)
    assert config.admin
    assert (str(config.admin.listen), config.log.level, config.log.format) == ("h:3", "debug", "auto")


def test_clusters_by_variable(tmp_path: Path) -> None:
    """KPROXY_CLUSTERS replaces the file's, as YAML or JSON; the short forms still apply to a single one."""
    environ = {"KPROXY_CLUSTERS": '[{"name": "x", "bootstrap_servers": ["c:1"], "listen": "h:1"}]'}
    (cluster,) = load(write(tmp_path, TWO), {"advertised_host": "k"}, environ).clusters
    assert (cluster.name, cluster.advertised_host) == ("x", "k")


def test_upstreams_by_variable() -> None:
    """KPROXY_UPSTREAMS holds the single cluster's upstreams as YAML or JSON; failover has plain variables."""
    environ = {
        "KPROXY_UPSTREAMS": '[{"name": "east", "bootstrap_servers": "e:1,e:2"}, {name: west, bootstrap_servers: w:1}]',
        "KPROXY_FAILOVER__AUTOMATIC": "true",
        "KPROXY_FAILOVER__AFTER": "5s",
    }
    (cluster,) = load(None, {"listen": "h:1"}, environ).clusters
    assert [(upstream.name, len(upstream.bootstrap_servers)) for upstream in cluster.backends] == [
        ("east", 2),
        ("west", 1),
    ]
    assert (cluster.failover.automatic, cluster.failover.after) == (True, 5)


def test_short_forms_need_a_single_cluster(tmp_path: Path) -> None:
    """With two clusters, a flag for a cluster is ambiguous and refused."""
    why = "is for a single virtual cluster, but 2 are configured: set it in the file"
    assert lines_of(write(tmp_path, TWO), {"listen": "h:1"}) == [f"--listen: {why}"]
    assert lines_of(write(tmp_path, TWO), KPROXY_NAME="x", KPROXY_ZZ="1") == [
        "KPROXY_ZZ: is no setting of kproxy",
        f"KPROXY_NAME: {why}",
    ]


def test_problems_of_the_file_name_key_and_line(tmp_path: Path) -> None:
    """All problems are reported at once; the exception itself is the first."""
    path = write(tmp_path, ONE.replace("name: orders", "nmae: orders") + "drain: {deadline: soon}\n")
    with pytest.raises(ConfigError) as caught:
        load(path, {}, {})
    assert (caught.value.key, caught.value.reason) == (f"{path}: clusters.0.name", "is required (line 2)")
    assert isinstance(caught.value, ConfigProblems)
    assert str(caught.value).splitlines() == [
        f"{path}: clusters.0.name: is required (line 2)",
        f"{path}: clusters.0.nmae: is no setting; did you mean name? (line 2)",
        f"{path}: drain.deadline: 'soon' is not a duration; write seconds, or for instance 500ms, 10s, 2m (line 7)",
    ]


@pytest.mark.parametrize(
    ("overrides", "environ", "problems"),
    [
        ({}, {}, ["clusters: is required: give them in a --config file, or --bootstrap-servers and --listen"]),
        ({"listen": "h:1"}, {}, [NO_BACKEND]),
        ({"bootstrap_servers": "h:1"}, {}, ["--listen: is required (or KPROXY_LISTEN)"]),
        (
            {"listen": "h", "bootstrap_servers": "a:1"},
            {"KPROXY_LISTEN": "h:1"},
            ["--listen: 'h' lacks a host or a port; write host:port, for instance broker-1:9092 or [::1]:9092"],
        ),
        (
            {"listen": "h:1"},
            {"KPROXY_BOOTSTRAP_SERVERS": "a:1,b:x", "KPROXY_NODES__FIRST_PORT": "x", "KPROXY_LOG_LEVEL": "loud"},
            [
                "KPROXY_BOOTSTRAP_SERVERS: 'x' is not a port (0 to 65535)",
                "KPROXY_NODES__FIRST_PORT: must be a whole number, not 'x'",
                "KPROXY_LOG_LEVEL: must be 'debug', 'info', 'warning', 'error' or 'critical', not 'loud'",
            ],
        ),
        (
            {"listen": "h:1"},
            {"KPROXY_UPSTREAMS": "[{name: East, bootstrap_servers: 'a:1'}, {name: b}]"},
            [
                "KPROXY_UPSTREAMS: 0.name: 'East' is not a DNS label",
                "KPROXY_UPSTREAMS: 1.bootstrap_servers: is required",
            ],
        ),
        (
            {"listen": "h:1", "bootstrap_servers": "a:1"},
            {"KPROXY_UPSTREAMS": "[{name: b, bootstrap_servers: 'b:1'}]"},
            ["--bootstrap-servers: stands beside upstreams: give either bootstrap_servers or upstreams, not both"],
        ),
        (
            {"listen": "h:1", "bootstrap_servers": "a:1"},
            {"KPROXY_FAILOVER__AUTOMATIC": "yes"},
            ["KPROXY_FAILOVER__AUTOMATIC: needs at least two upstreams: there is nowhere to switch to"],
        ),
        ({"listen": "h:1"}, {"KPROXY_UPSTREAMS": "[{"}, ["KPROXY_UPSTREAMS: while parsing a flow"]),
        (
            {"listen": "h:9092", "bootstrap_servers": "a:1", "admin": "h:9093"},
            {},
            ["KPROXY_NODES__FIRST_PORT: port 9093 is also that of admin.listen"],
        ),
        ({}, {"KPROXY_CLUSTERS": "[{name: x"}, ["KPROXY_CLUSTERS: while parsing a flow mapping, did not find"]),
        ({}, {"KPROXY_CLUSTERS": "[]"}, ["KPROXY_CLUSTERS: must not be empty"]),
        ({}, {"KPROXY_CLUSTERS": "[{name: x, listen: 'h:1'}]"}, ["KPROXY_CLUSTERS: 0.bootstrap_servers: is required"]),
        (
            {"listen": "h:1"},
            {"KPROXY_CLUSTERS": "many", "KPROXY_LISTEM": "x"},
            ["KPROXY_LISTEM: is no setting of kproxy; did you mean KPROXY_LISTEN?", "KPROXY_CLUSTERS: must be a list"],
        ),
    ],
)
def test_problems_name_the_flag_or_variable(
    overrides: dict[str, str], environ: dict[str, str], problems: list[str]
) -> None:
    """A problem names the flag or variable that gave the value."""
    lines = lines_of(None, overrides, **environ)
    assert len(lines) == len(problems)
    assert all(line.startswith(problem) for line, problem in zip(lines, problems, strict=True)), lines


def test_a_variable_beside_the_short_form_of_admin(tmp_path: Path) -> None:
    """The address stays: config/kubernetes.yaml has it so, and the token comes by a variable."""
    path = tmp_path / "kproxy.yaml"
    path.write_text("clusters: [{name: a, listen: h:1, bootstrap_servers: b:1}]\nadmin: 127.0.0.1:9190\n")
    admin = load(path, {}, {"KPROXY_ADMIN__TOKEN_FILE": "/t"}).admin
    assert admin is not None
    assert (str(admin.listen), admin.token_file) == ("127.0.0.1:9190", "/t")


def test_an_unknown_variable_spoils_a_good_file(file: Path) -> None:
    """An unknown variable is refused: it would otherwise silently do nothing."""
    assert lines_of(file, {}, KPROXY_LOG_LEVLE="debug") == [
        "KPROXY_LOG_LEVLE: is no setting of kproxy; did you mean KPROXY_LOG_LEVEL?"
    ]


def test_a_variable_beside_a_wrong_file(tmp_path: Path) -> None:
    """A variable covers nothing that is wrong in the file: each is reported."""
    path = write(tmp_path, "clusters: [orders]\nlog: loud\n")
    assert lines_of(path, {}, KPROXY_LOG__LEVEL="info", KPROXY_LISTEN="h:1") == [
        f"{path}: clusters.0: must be a mapping, not 'orders' (line 1)",
        f"{path}: log: must be a mapping, not 'loud' (line 2)",
    ]


def test_without_clusters_the_file_is_named(tmp_path: Path) -> None:
    """The error for an empty file has the file's name."""
    path = write(tmp_path, "")
    assert lines_of(path) == [
        f"{path}: clusters: is required: give them in a --config file, or --bootstrap-servers and --listen"
    ]


def test_what_the_file_lacks_a_flag_may_give(tmp_path: Path) -> None:
    """The file may hold only settings that are common to several places."""
    config = load(write(tmp_path, "drain: {deadline: 5s}\n"), {"listen": "h:1", "bootstrap_servers": "a:1"}, {})
    assert (config.drain.deadline, config.clusters[0].name) == (5, "default")


def test_what_yaml_merges_has_no_line(tmp_path: Path) -> None:
    """The problem still has the key."""
    path = write(tmp_path, ONE.replace("log:", "<<: {drain: {deadline: x}}\nlog:"))
    (line,) = lines_of(path)
    assert line.startswith(f"{path}: drain.deadline: 'x' is not a duration")
    assert "(line" not in line
