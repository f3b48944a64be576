"""kproxy.cli.config and kproxy.cli.serve: what is printed, where, and the exit code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import trio
import yaml

from kproxy.authentication.users_file import add
from kproxy.cli import serve as module
from kproxy.cli.config import _print_presented
from kproxy.cluster.preflight import Finding
from kproxy.config import Config
from kproxy.config.reference import json_schema
from kproxy.upstream.presented import Presented
from tests.support.authority import Authority, openssl
from tests.support.authorization_server import authorization_server
from tests.support.tls_server import server
from tests.unit.app.living import HOST, brokers
from tests.unit.cli.running import ROOT, printed, run

SERVERS = ("--bootstrap-servers", "a:1,b:2", "--listen", "0.0.0.0:9092")


def with_certificates(example: Path, directory: Path) -> Path:
    """Return the example, or where it has TLS a copy whose certificates, keys and users are there."""
    text = example.read_text()
    named = set(re.findall(r"/etc/kproxy/([a-z]+)/(?:tls|ca)\.", text))
    if not named:
        return example
    for name in named:
        (directory / name).mkdir()
        authority = Authority(directory / name)
        authority.file.rename(directory / name / "ca.crt")
        authority.file.symlink_to("ca.crt")
        own = authority.signed("own")
        own.chain.rename(directory / name / "tls.crt")
        own.key.rename(directory / name / "tls.key")
    if "users_file: /etc/kproxy/users" in text:
        add(directory / "users", "alice", "a password", ["SCRAM-SHA-512"], 4096)
    copy = directory / example.name
    copy.write_text(text.replace("/etc/kproxy", str(directory)))
    return copy


def test_check_looks_for_a_service_account(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ConfigMap outside Kubernetes is refused, with what is missing and what to do; exit code 2."""
    upstreams = [{"name": name, "bootstrap_servers": f"{name}:9092"} for name in ("east", "west")]
    cluster = {"name": "orders", "listen": "127.0.0.1:9092", "upstreams": upstreams}
    file = tmp_path / "kproxy.yaml"
    file.write_text(json.dumps({"clusters": [cluster | {"failover": {"config_map": "kproxy-orders"}}]}))
    monkeypatch.setenv("KUBERNETES_SERVICE_ACCOUNT_DIR", str(tmp_path))
    code, out, err = printed(capsys, ["config", "check", str(file)])
    assert (code, out) == (2, "")
    assert "clusters.orders.failover.config_map: needs a pod of Kubernetes with the token of its service account" in err
    assert f"{tmp_path}/ca.crt cannot be read (No such file or directory): give the pod automountServiceAccountT" in err
    for name in ("ca.crt", "namespace", "token"):
        (tmp_path / name).write_text("there")
    assert printed(capsys, ["config", "check", str(file)])[0] == 0


def test_check_reads_the_files_of_tls(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One that cannot be used is named, with its setting; exit code 2."""
    copy = with_certificates(ROOT / "config" / "tls.yaml", tmp_path)
    (tmp_path / "tls" / "tls.key").write_text((tmp_path / "client" / "tls.key").read_text())
    code, out, err = printed(capsys, ["config", "check", str(copy)])
    assert (code, out) == (2, "")
    assert "clusters.orders.tls.certificate: " in err
    assert "the key does not fit the certificate" in err


@pytest.mark.parametrize("example", sorted((ROOT / "config").glob("*.yaml")), ids=lambda path: path.name)
def test_check_shows_every_listener(capsys: pytest.CaptureFixture[str], tmp_path: Path, example: Path) -> None:
    """A line for each, with the backend and the advertised address; exit code 0. Files of TLS are there."""
    code, out, err = printed(capsys, ["config", "check", str(with_certificates(example, tmp_path))])
    assert (code, err) == (0, "")
    config = Config.model_validate(yaml.safe_load(example.read_text()))
    for cluster in config.clusters:
        (bootstrap,) = [
            line for line in out.splitlines() if line.startswith(f"{cluster.name} ") and "bootstrap " in line
        ]
        assert str(cluster.listen) in bootstrap
        for backend in cluster.backends:
            assert ", ".join(map(str, backend.bootstrap_servers)) in out
        assert ", ".join(map(str, cluster.backends[0].bootstrap_servers)) in bootstrap
        assert out.count(f"\n{cluster.name} ") == len(cluster.backends) + max(1, len(cluster.nodes.ranges))
        assert (cluster.advertised_host or "<address the client reached>") in out
    assert (" admin " in out) is (config.admin is not None)


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        (("DNS:orders.example.com", "DNS:*.orders.example.com"), []),
        (("DNS:*.example.com",), ["broker-0.orders.example.com"]),
        (("DNS:kproxy", "IP:127.0.0.1"), ["orders.example.com", "broker-0.orders.example.com"]),
    ],
)
def test_check_notes_names_that_a_certificate_is_not_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, names: tuple[str, ...], refused: list[str]
) -> None:
    """A client would refuse the certificate there; in text and in JSON."""
    made = Authority(tmp_path).signed("own", *names)
    file = tmp_path / "kproxy.yaml"
    tls = {"certificate": str(made.chain), "key": str(made.key)}
    nodes = {"strategy": "sni", "pattern": "broker-$(node_id).orders.example.com"}
    cluster = {"name": "orders", "bootstrap_servers": "a:1", "listen": "0.0.0.0:9093", "tls": tls, "nodes": nodes}
    file.write_text(yaml.safe_dump({"clusters": [cluster | {"advertised_host": "orders.example.com"}]}))
    code, out, _ = printed(capsys, ["config", "check", str(file)])
    shown = ", ".join(names).replace("IP:", "IP Address:")
    notes = [f"clusters.orders.tls: clients refuse the certificate at {host}: it is for {shown}" for host in refused]
    assert (code, [line for line in out.splitlines() if line.startswith("Note")]) == (
        0,
        [f"Note: {note}" for note in notes],
    )
    assert json.loads(printed(capsys, ["config", "check", str(file), "--json"])[1])["notes"] == notes


def test_check_takes_variables_into_account() -> None:
    """It shows what serve would do here."""
    done = run("config", "check", str(ROOT / "config" / "minimal.yaml"), KPROXY_LISTEN="127.0.0.1:7000")
    assert "127.0.0.1:7001 and up" in done.stdout


def test_check_names_file_key_and_reason(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`FILE: key: reason`, as editors and CI read it."""
    file = tmp_path / "kproxy.yaml"
    file.write_text("clusters:\n  - {name: a, bootstrap_servers: a:1, listen: '0.0.0.0:9092'}\nadmin: 0.0.0.0:9092\n")
    code, out, err = printed(capsys, ["config", "check", str(file)])
    assert (code, out) == (2, "")
    assert err == f"{file}: admin.listen: port 9092 is also that of clusters.0.listen (line 3)\n"


def test_schema(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON on standard output and nothing else."""
    code, out, err = printed(capsys, ["config", "schema"])
    assert (code, out, err) == (0, json_schema(), "")
    assert json.loads(out)["$schema"].startswith("https://json-schema.org/")


def test_show_prints_what_loads_again(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The settings in effect, flags included, as a file that means the same."""
    file = tmp_path / "shown.yaml"
    log = ["--log-format", "json", "--log-level", "WARN"]
    _, shown, _ = printed(capsys, ["config", "show", *SERVERS, "--admin", "[::1]:9190", *log])
    file.write_text(shown)
    assert printed(capsys, ["config", "show", "--config", str(file)]) == (0, shown, "")
    settings = yaml.safe_load(shown)
    assert settings["admin"]["listen"] == "[::1]:9190"
    assert settings["log"] == {"level": "warning", "format": "json"}
    assert settings["clusters"][0]["bootstrap_servers"] == ["a:1", "b:2"]


def test_a_closed_pipe_is_no_traceback() -> None:
    """`kproxy config schema | head -1` ends quietly."""
    schema = subprocess.Popen(
        [sys.executable, "-m", "kproxy", "config", "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with schema:
        assert schema.stdout
        assert schema.stderr
        schema.stdout.close()
        assert schema.stderr.read() == ""
    assert schema.returncode == 1


def test_values_of_the_choices_are_those_of_the_settings() -> None:
    """The flags offer what the model takes: they are written twice so that --help stays quick."""
    log = Config.model_json_schema()["$defs"]["Log"]["properties"]
    assert (list(module.LEVELS), list(module.FORMATS)) == (log["level"]["enum"], log["format"]["enum"])


TELEMETRY = """
clusters: [{{name: a, bootstrap_servers: a:1, listen: h:1, telemetry: {{subscriptions: [
  {{name: good, metrics: "*"}}, {{name: bad, metrics: "*", match: {match}}}]}}}}]
"""


@pytest.mark.parametrize(
    ("match", "reason"),
    [
        ("{client_id: 'a(b'}", "match: client_id='a(b' is no regex for RE2: "),
        ("{client_name: a}", "match: unknown key 'client_name', known are client_instance_id, client_id,"),
        ("{client_id: 'a{1,2}'}", "match: '2}' is not of the form key=pattern"),
    ],
)
def test_check_refuses_subscriptions_as_kafka_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, match: str, reason: str
) -> None:
    """Before it is served: the file, which one, and why."""
    file = tmp_path / "kproxy.yaml"
    file.write_text(TELEMETRY.format(match=match))
    code, out, err = printed(capsys, ["config", "check", str(file)])
    assert (code, out) == (2, "")
    assert err.startswith(f"{file}: clusters.0.telemetry.subscriptions.1: {reason}")


def test_check_notes_what_may_not_be_meant(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Below the table; it is no mistake."""
    file = tmp_path / "kproxy.yaml"
    file.write_text(TELEMETRY.format(match="{client_id: a.*}"))
    code, out, _ = printed(capsys, ["config", "check", str(file)])
    assert code == 0
    assert out.splitlines()[-1] == (
        "Note: clusters.a.telemetry: has no receiver: what clients push is taken and dropped"
    )


@pytest.mark.parametrize(
    ("receiver", "reason"),
    [
        ("{name: o, type: otlp, url: collector}", "'collector' is no endpoint; write http://host:4318/v1/metrics"),
        ("{name: o, type: otlp, url: 'https://c', tls: {ca: /no/such}}", "/no/such: no such file or directory"),
        ("{name: p, type: prometheus, labels: a-b}", "'a-b' cannot be a label; take one of client_instance_id,"),
        ("{name: f, type: files, directory: d, prefix: .x}", "is no prefix of files"),
        ("{name: m, type: mine}", "no receiver of type 'mine': plug-ins are "),
    ],
)
def test_check_refuses_receivers_that_cannot_be(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, receiver: str, reason: str
) -> None:
    """As `serve` would: the file, which one, and why; nothing is dialled and nothing written."""
    file = tmp_path / "kproxy.yaml"
    cluster = "{name: a, bootstrap_servers: a:1, listen: h:1, telemetry: {}}"
    file.write_text(f"clusters: [{cluster}]\nreceivers: [{receiver}]\n")
    code, out, err = printed(capsys, ["config", "check", str(file)])
    assert (code, out) == (2, "")
    assert err.startswith(f"{file}: receivers.0: ")
    assert reason in err
    assert [path.name for path in tmp_path.iterdir()] == ["kproxy.yaml"]


CONNECTED = """
clusters: [{{name: orders, listen: "h:9092", nodes: {{strategy: offset, ranges: 1-3}}, upstreams: [
  {{name: east, bootstrap_servers: "{east}"}}, {{name: west, bootstrap_servers: "{west}"}}]}}]
"""


@pytest.mark.parametrize(
    ("west", "code", "found"),
    [((3,), 0, "a port for each"), ((3, 7), 1, "node 7 is in none of nodes.ranges"), (None, 1, "no broker answers: ")],
)
async def test_check_can_ask_the_upstreams(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, west: tuple[int, ...] | None, code: int, found: str
) -> None:
    """A line for each below the table; exit code 1 when a node has no port, or nobody says which nodes there are."""
    file = tmp_path / "kproxy.yaml"
    async with brokers((1, 2), west or ()) as (a, b):
        file.write_text(CONNECTED.format(east=f"{HOST}:{a.port}", west=f"{HOST}:{b.port if west else 1}"))
        exited, out, err = await trio.to_thread.run_sync(printed, capsys, ["config", "check", str(file), "--connect"])
    assert (exited, err) == (code, "")
    note, _, head, first, second = out.splitlines()[-5:]
    assert note.startswith("Note: clusters.orders.nodes: there are ports for the node ids 1-3: all nodes of east, west")
    assert head.split() == ["Virtual", "cluster", "Upstream", "Nodes", "Found"]
    assert first.rstrip().split(maxsplit=4) == ["orders", "east", "1", "2", "a port for each"]
    assert second.split(maxsplit=2)[:2] == ["orders", "west"]
    assert found in second


def test_check_shows_certificates(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The chain that a server presents, what does not fit, and the same as JSON; exit code 1."""
    authority, file = Authority(tmp_path), tmp_path / "kproxy.yaml"
    made = authority.signed("broker", "DNS:kafka.example")
    nameless = tmp_path / "nameless.pem"
    made_of = ("-keyout", str(tmp_path / "nameless.key"), "-out", str(nameless), "-subj", "/CN=nameless")
    openssl("req", "-x509", "-nodes", "-newkey", "rsa:2048", *made_of)
    with server(made.chain, made.key) as one, server(nameless, tmp_path / "nameless.key") as other:
        servers = f"localhost:{one},localhost:{other},localhost:1"
        tls = {"ca": str(authority.file)}
        cluster = {"name": "orders", "listen": "h:9092", "bootstrap_servers": servers, "upstream_tls": tls}
        file.write_text(json.dumps({"clusters": [cluster], "timeouts": {"connect": "500ms"}}))
        code, out, err = printed(capsys, ["config", "check", str(file), "--connect"])
        assert (code, err) == (1, "")
        assert f"orders, main, localhost:{one}: TLSv1.3, TLS_" in out
        assert "  1. CN=broker, for DNS:kafka.example\n     issued by CN=test ca, valid from " in out
        assert "  Problem: CN=broker is not for localhost, it has DNS:kafka.example: connect by such a name" in out
        assert "  1. CN=nameless\n" in out
        assert "orders, main, localhost:1: no TLS connection\n  Problem: cannot be asked: connection refused" in out
        code, out, err = printed(capsys, ["config", "check", str(file), "--connect", "--json"])
        assert (code, err) == (1, "")
        (upstream,) = json.loads(out)["upstreams"]
        assert [each["address"] for each in upstream["servers"]] == servers.split(",")
    code, out, _ = printed(capsys, ["config", "check", str(file), "--json"])
    said = json.loads(out)
    assert (code, said.keys()) == (0, {"listeners", "notes"})
    assert said["listeners"][0]["listens"] == "h:9092"


async def test_check_asks_for_the_keys_of_tokens(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """An issuer's URL without keys is a problem, as a line and in JSON; exit code 1."""
    file = tmp_path / "kproxy.yaml"
    async with brokers((1,)) as (a,):
        with authorization_server() as issuing:
            tokens = {"issuer": issuing.issuer, "audience": "kafka", "jwks_url": f"{issuing.issuer}/keys"}
            asked = {"mechanisms": "OAUTHBEARER", "oauthbearer": tokens, "dangerously_accept_secrets_without_tls": True}
            cluster = {"name": "orders", "bootstrap_servers": f"{HOST}:{a.port}", "listen": "h:9092"}
            file.write_text(json.dumps({"clusters": [cluster | {"authentication": asked}]}))
            command = ["config", "check", str(file), "--connect"]
            code, out, _ = await trio.to_thread.run_sync(printed, capsys, command)
            assert (code, "Problem" in out) == (0, False)
            issuing.key_set_status = 404
            code, out, _ = await trio.to_thread.run_sync(printed, capsys, command)
            why = f"{issuing.issuer}/keys: it answers 404; check the URL and its log"
            assert (code, out.splitlines()[-1]) == (
                1,
                f"Problem: clusters.orders.authentication.oauthbearer.jwks_url: {why}",
            )
            code, out, _ = await trio.to_thread.run_sync(printed, capsys, [*command, "--json"])
            assert (code, len(json.loads(out)["problems"])) == (1, 1)


def test_check_shows_what_is_weak(capsys: pytest.CaptureFixture[str]) -> None:
    """A note, which changes no exit code."""
    shown = Presented("a:1", "TLSv1.3", "X", notes=["CN=a has a weak key, RSA of 1024 bits"])
    found = Finding("c", "u", servers=[shown])
    _print_presented(found, shown)
    assert capsys.readouterr().out == "\nc, u, a:1: TLSv1.3, X\n  Note: CN=a has a weak key, RSA of 1024 bits\n"
    assert found.is_fit
