"""kproxy.telemetry.receivers.factory: what receivers of a virtual cluster add to each push."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import trio
from confluent_kafka import Producer

from kproxy.config import Config
from kproxy.telemetry.receivers.factory import made
from kproxy.upstream.client import UpstreamClient
from tests.unit.delivery.test_kafka import consumed
from tests.unit.telemetry.receivers.pushes import gauge, push
from tests.unit.telemetry.receivers.test_files import rows


@pytest.mark.parametrize("instance", ["kproxy-0", None])
async def test_files_and_topics_name_their_kproxy(tmp_path: Path, nursery: trio.Nursery, instance: str | None) -> None:
    """As events do: several kproxies may write into one; beside it the virtual cluster and what is configured."""
    constant = {"env": "test", "proxy": "overruled"}
    receivers = [
        {"name": "files", "type": "files", "directory": str(tmp_path), "constant": constant},
        {"name": "topic", "type": "kafka", "topic": "telemetry", "constant": constant},
    ]
    cluster = {"name": "main", "bootstrap_servers": "broker:9092", "listen": "127.0.0.1:0"}
    config = Config.model_validate({"clusters": [cluster], "receivers": receivers, "events": {"instance": instance}})
    mock = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "replaced by the mock's"})
    brokers = [(broker.host, broker.port) for broker in mock.list_topics(timeout=10).brokers.values()]
    for receiver in made(config, "main", None, lambda _: UpstreamClient(brokers)):
        await nursery.start(receiver.run)
        assert receiver.offer(push(gauge("g", 1.0)))
        with trio.fail_after(20):
            await receiver.flush()
    nursery.cancel_scope.cancel()
    with trio.CancelScope(shield=True):
        [message] = await trio.to_thread.run_sync(consumed, brokers, "telemetry", 1)
    [line] = rows(tmp_path)
    expected = {"cluster": "main", "proxy": instance or socket.gethostname(), "env": "test"}
    headers = {name: value.decode() for name, value in message.headers()}
    assert {name: line[name] for name in expected} == {name: headers[name] for name in expected} == expected
