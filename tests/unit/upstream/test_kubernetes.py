"""kproxy.upstream.kubernetes: the files of a service account, and what is missing, in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
import trio

from kproxy.errors import ConfigError, UpstreamError
from kproxy.upstream.kubernetes import ApiServer
from tests.unit.agreement.api_server import FakeApiServer

PATH: Final = "/api/v1/namespaces/{namespace}/configmaps/kproxy-orders"


@pytest.fixture
async def server(tmp_path: Path, nursery: trio.Nursery) -> FakeApiServer:
    """An API server."""
    made = FakeApiServer(tmp_path)
    await nursery.start(made.run)
    return made


async def test_a_request(server: FakeApiServer) -> None:
    """It goes to the namespace of the pod, with the token of its service account."""
    answer = await server.client.get(PATH)
    assert (answer.status, server.requests[0].path) == (404, PATH.format(namespace="messaging"))
    assert (server.requests[0].token, server.requests[0].method) == ("first", "GET")


async def test_files_that_are_gone(server: FakeApiServer) -> None:
    """Each is named, at a request and when kproxy starts; an authority that is none, too."""
    for name in ("token", "namespace", "ca.crt"):
        path = server.directory / name
        content = path.read_bytes()
        path.unlink()
        with pytest.raises(UpstreamError, match=rf"/{name} cannot be read \(No such file or directory\): look at"):
            await server.client.get(PATH)
        with pytest.raises(ConfigError, match=f"clusters.0.failover.config_map: needs a pod of Kubernetes .*/{name}"):
            server.client.check("clusters.0.failover.config_map")
        path.write_bytes(content)
    server.client.check("clusters.0.failover.config_map")
    (server.directory / "token").write_text("\n")
    with pytest.raises(ConfigError, match=r"\(token is empty\)"):
        server.client.check("clusters.0.failover.config_map")
    server.renew("again")
    (server.directory / "ca.crt").write_text("none")
    with pytest.raises(UpstreamError, match=r"ca\.crt: is no PEM file"):
        await server.client.get(PATH)


async def test_an_answer_without_end(server: FakeApiServer) -> None:
    """More than an object can have is not kept."""
    server.behaviour = lambda _: (200, bytes(5 << 20))
    with pytest.raises(UpstreamError, match="its answer has more than 4 MiB"):
        await server.client.get(PATH)


def test_where_a_pod_looks() -> None:
    """Without variables: the names and paths that Kubernetes gives to every pod."""
    with pytest.raises(ConfigError) as raised:
        ApiServer({}).check("clusters.1.failover.config_map")
    assert str(raised.value) == (
        "clusters.1.failover.config_map: needs a pod of Kubernetes with the token of its service account, and "
        "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt cannot be read (No such file or directory): give the "
        "pod automountServiceAccountToken: true, or use failover.control_topic"
    )
