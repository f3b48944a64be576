"""Clients of Kafka clusters that have topics of receivers or events, and are no virtual cluster's upstream.

`Cluster.connected` makes one at each start of a destination.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from kproxy.cluster.upstreams import client_of
from kproxy.errors import ConfigError
from kproxy.upstream.dial import open_tcp
from kproxy.upstream.tls import BrokerContext

if TYPE_CHECKING:
    from collections.abc import Callable

    from kproxy.config import Config
    from kproxy.config.delivery import ToTopic
    from kproxy.observe.troubles import Troubles
    from kproxy.upstream.client import UpstreamClient


def topic_client(topic: ToTopic, config: Callable[[], Config], troubles: Troubles) -> UpstreamClient:
    """Return a client of the cluster at the topic's own bootstrap servers."""
    servers = [(server.host, server.port) for server in topic.bootstrap_servers]

    async def dial(host: str, port: int) -> trio.abc.Stream:
        """Dial by TLS; its files are read anew, so that renewed ones count. Raises OSError, for a file as well."""
        try:
            context = await trio.to_thread.run_sync(_context, topic)
        except ConfigError as error:
            raise OSError(str(error)) from error
        return await context.stream(host, port)

    return client_of(servers, config, troubles, open_tcp if topic.tls is None else dial, lambda: topic.identity)


def check_topics(config: Config) -> None:
    """Read the files of TLS to such clusters; raises `ConfigError`."""
    for key, topic in config.topics_elsewhere:
        if topic.tls is not None:
            _context(topic, key)


def _context(topic: ToTopic, key: str = "") -> BrokerContext:
    assert topic.tls is not None
    return BrokerContext(topic.tls, f"{key or topic.topic}.tls")
