"""The findings of `kproxy config check --connect`, for clusters that answer and one that does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kproxy.cluster.preflight import Finding, findings
from kproxy.config import Config
from tests.support.authority import Authority
from tests.support.tls_server import server
from tests.unit.app.living import HOST, brokers


def config(*ports: int, nodes: dict[str, Any]) -> Config:
    """Return a virtual cluster with an upstream at each of the ports."""
    upstreams = [{"name": f"u{number}", "bootstrap_servers": f"{HOST}:{port}"} for number, port in enumerate(ports)]
    return Config.model_validate(
        {"clusters": [{"name": "c", "listen": f"{HOST}:9092", "upstreams": upstreams, "nodes": nodes}]}
    )


@pytest.mark.parametrize(
    ("nodes", "problems"),
    [
        ({}, []),
        (
            {"strategy": "offset", "ranges": "1-3"},
            ["node 7 is in none of nodes.ranges", "node 8 is in none of nodes.ranges"],
        ),
        ({"first_port": 65_534}, ["no port from 65534 on is free for node 8"]),
    ],
)
async def test_every_upstream_is_asked(nodes: dict[str, Any], problems: list[str]) -> None:
    """Findings are in order, with all nodes, those without a port, and the reason where a cluster does not answer."""
    async with brokers((1, 2), (3, 7, 8)) as (a, b):
        first, second, nobody = await findings(config(a.port, b.port, 1, nodes=nodes))
        assert first == Finding("c", "u0", [1, 2], [])
        assert second == Finding("c", "u1", [3, 7, 8], problems)
        assert (nobody.upstream, nobody.nodes) == ("u2", ())
        assert "connection refused" in nobody.problems[0]


async def test_servers_with_tls(tmp_path: Path) -> None:
    """Each presents its chain, in the order of the settings; one that is no Kafka broker is a problem besides."""
    authority = Authority(tmp_path)
    made = [authority.signed(name) for name in ("first", "second")]
    with server(made[0].chain, made[0].key) as one, server(made[1].chain, made[1].key) as other:
        both = {"bootstrap_servers": f"localhost:{one},localhost:{other}", "upstream_tls": {"ca": str(authority.file)}}
        cluster = {"name": "c", "listen": f"{HOST}:9092", **both}
        settings = Config.model_validate({"clusters": [cluster], "timeouts": {"connect": "500ms"}})
        (found,) = await findings(settings)
        assert [each.chain[0].subject for each in found.servers] == ["CN=first", "CN=second"]
        assert [each.problems for each in found.servers] == [[], []]
        assert (found.is_fit, len(found.problems)) == (False, 1)
        cluster = {"name": "c", "listen": f"{HOST}:9092", "bootstrap_servers": f"localhost:{one}"}
        (found,) = await findings(Config.model_validate({"clusters": [cluster], "timeouts": {"connect": "500ms"}}))
        assert found.problems[-1] == f"localhost:{one} speaks TLS: set `upstream_tls`, or `tls` of this upstream"
        assert not found.servers


async def test_nothing_but_metadata_is_asked() -> None:
    """No port is bound either: the check may run beside a kproxy that serves."""
    async with brokers((1,)) as (a,):
        await findings(config(a.port, nodes={}))
        assert {header.api_key for header in a.seen} == {3, 18}
        assert a.requests(3) == 1
