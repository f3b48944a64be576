"""A virtual cluster starts, or fails to."""

from __future__ import annotations

import socket

import pytest

from kproxy.errors import ConfigError
from kproxy.local_kafka.ports import free_ports
from tests.unit.app.living import HOST
from tests.unit.cluster.clusters import started


async def test_a_bootstrap_port_in_use() -> None:
    """The error names the setting."""
    async with started(first_port=0) as cluster:
        with pytest.raises(ExceptionGroup) as caught:
            async with started(listen=cluster.listeners.listen[1], first_port=0):
                pass
        assert caught.group_contains(ConfigError, match=r"^clusters\.0\.listen: cannot listen on .* already in use")


async def test_a_node_port_in_use() -> None:
    """The error for a node that the configuration names does so too."""
    ports = free_ports(3)
    with socket.create_server((HOST, ports[2])), pytest.raises(ExceptionGroup) as caught:
        async with started(listen=ports[0], strategy="offset", ranges="5-6"):
            pass
    assert caught.group_contains(
        ConfigError, match=rf"^clusters\.0\.nodes\.first_port: port {ports[2]} of node 6 is taken by another process$"
    )
