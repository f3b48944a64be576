"""`kproxy config check --connect` at real brokers: what they present, and each way in which it does not fit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.support.authority import Authority
from tests.support.proxy import KPROXY
from tests.support.secured import NODE_ID, PASSWORD, Secured
from tests.support.tls_kafka import USER, tls_kafka

IDENTITY = {"mechanism": "SCRAM-SHA-512", "username": USER, "password": PASSWORD}


def checked(directory: Path, servers: str, *flags: str, **more: Any) -> tuple[int, str]:
    """Exit code and output for one virtual cluster."""
    file = directory / "kproxy.yaml"
    cluster = {"name": "orders", "bootstrap_servers": servers, "listen": "127.0.0.1:9092", **more}
    file.write_text(yaml.safe_dump({"clusters": [cluster]}))
    command = [KPROXY, "config", "check", str(file), "--connect", *flags]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (done.stderr, PASSWORD in done.stdout) == ("", False)
    return done.returncode, done.stdout


def problems(directory: Path, servers: str, **more: Any) -> list[str]:
    """What is wrong there, of the upstream and of its server."""
    code, said = checked(directory, servers, "--json", **more)
    (upstream,) = json.loads(said)["upstreams"]
    found = [*upstream["problems"], *(line for one in upstream["servers"] for line in one["problems"])]
    assert (code == 1) == bool(found)
    return found


def test_what_fits(broker: Secured, authority: Authority, tmp_path: Path) -> None:
    """The chain in text and as JSON, with the nodes."""
    fitting = {"upstream_tls": {"ca": str(authority.file)}, "identity": IDENTITY}
    code, said = checked(tmp_path, broker.bootstrap, **fitting)
    assert code == 0
    assert f"\norders, main, {broker.bootstrap}: TLSv1.3, TLS_AES_" in said
    assert "  1. CN=broker, for DNS:localhost, IP Address:127.0.0.1\n     issued by CN=test ca, valid from 20" in said
    assert "     EC of 256 bits, signed by ECDSA with SHA-256\n" in said
    code, said = checked(tmp_path, broker.bootstrap, "--json", **fitting)
    (upstream,) = json.loads(said)["upstreams"]
    assert (code, upstream["nodes"]) == (0, [NODE_ID])
    (server,) = upstream["servers"]
    assert (server["address"], server["version"], server["chain"][0]["key_bits"]) == (broker.bootstrap, "TLSv1.3", 256)


def test_what_does_not_fit(broker: Secured, authority: Authority, tmp_path: Path) -> None:
    """Another authority, another name, plaintext at the port of TLS and the other way round."""
    tls = {"ca": str(authority.file)}
    others = {"ca": str(Authority(tmp_path, "others").file)}
    found = problems(tmp_path, broker.bootstrap, upstream_tls=others, identity=IDENTITY)
    assert any(line.startswith("CN=test ca, which issued CN=broker, is neither sent nor trusted") for line in found)
    found = problems(
        tmp_path, broker.bootstrap, upstream_tls={**tls, "server_name": "kafka.example"}, identity=IDENTITY
    )
    assert any("is not for kafka.example, it has DNS:localhost, IP Address:127.0.0.1" in line for line in found)
    found = problems(tmp_path, broker.bootstrap, identity=IDENTITY)
    assert f"{broker.bootstrap} speaks TLS: set `upstream_tls`, or `tls` of this upstream" in found
    found = problems(tmp_path, broker.plain, upstream_tls=tls)
    assert "the peer closed the connection in the handshake; does it speak TLS?" in found


def test_a_broker_that_asks_for_a_certificate(authority: Authority, tmp_path: Path) -> None:
    """Without one kproxy is told to have one; with one the nodes are found."""
    tls, own = {"ca": str(authority.file)}, authority.signed("own")
    with tls_kafka(authority, protocol="SSL", client_auth="required") as broker:
        found = problems(tmp_path, broker.bootstrap, upstream_tls=tls)
        assert any(line.startswith("it asks for a client certificate, and kproxy has none") for line in found)
        own_tls = {**tls, "certificate": str(own.chain), "key": str(own.key)}
        assert problems(tmp_path, broker.bootstrap, upstream_tls=own_tls) == []
