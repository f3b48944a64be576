"""kproxy.telemetry.receivers.factory: what receivers of a virtual cluster add to each push."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import trio
from confluent_kafka import Producer

from kproxy.config import Config
from kproxy.errors import ConfigError
from kproxy.telemetry.receivers.factory import made
from kproxy.telemetry.receivers.interface import Receiver
from kproxy.upstream.client import UpstreamClient
from tests.unit.delivery.test_kafka import consumed
from tests.unit.relay.sockets import eventually
from tests.unit.telemetry.receivers.certificates import Authority
from tests.unit.telemetry.receivers.collector import Collector, Reply
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
        with trio.fail_after(80):
            await receiver.flush()
    nursery.cancel_scope.cancel()
    with trio.CancelScope(shield=True):
        [message] = await trio.to_thread.run_sync(consumed, brokers, "telemetry", 1)
    [line] = rows(tmp_path)
    expected = {"cluster": "main", "proxy": instance or socket.gethostname(), "env": "test"}
    headers = {name: value.decode() for name, value in message.headers()}
    assert {name: line[name] for name in expected} == {name: headers[name] for name in expected} == expected


def otlp(port: int, **tls: str) -> Sequence[Receiver]:
    """A receiver of a collector at localhost, as the configuration has it."""
    receiver: dict[str, Any] = {"name": "collector", "type": "otlp", "linger": 0, "connections": 1, "tls": tls}
    receiver["url"] = f"https://localhost:{port}/v1/metrics"
    cluster = {"name": "main", "bootstrap_servers": "broker:9092", "listen": "127.0.0.1:0"}
    config = Config.model_validate({"clusters": [cluster], "receivers": [receiver]})
    return made(config, "main", None, lambda _: UpstreamClient([]))


async def test_renewed_certificates_of_a_collector(
    tmp_path: Path, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files are read for each connection; while one cannot be, pushes wait, and the error names it."""
    one, other = tmp_path / "one", tmp_path / "other"
    for directory in (one, other):
        directory.mkdir()
    before, now = [await trio.to_thread.run_sync(Authority, directory) for directory in (one, other)]
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(before.file.read_bytes())
    collector = Collector(tls=before.server)
    collector.behaviour = lambda _: Reply(then_close=True)
    await nursery.start(collector.run)
    [receiver] = otlp(collector.port, ca=str(trusted))
    monkeypatch.setattr(receiver, "_rand", lambda: 0.05)
    await nursery.start(receiver.run)

    async def delivered(count: int) -> None:
        await eventually(lambda: receiver.counters.delivered == count, f"{count} pushes are delivered")

    assert receiver.offer(push(gauge("g", 1.0)))
    await delivered(1)
    collector.tls = now.server
    assert receiver.offer(push(gauge("g", 2.0)))
    await eventually(lambda: "CERTIFICATE_VERIFY_FAILED" in str(receiver.counters.last_error), "it is not trusted")
    trusted.unlink()
    error = f"TLS cannot be set up ({trusted}: no such file or directory)"
    await eventually(lambda: error in str(receiver.counters.last_error), "the file is missed")
    trusted.write_bytes(now.file.read_bytes())
    await delivered(2)
    assert receiver.counters.dropped == {}
    nursery.cancel_scope.cancel()


def test_files_that_cannot_be_used_at_the_start(tmp_path: Path) -> None:
    """kproxy does not start with them; a key with a password is one, and nobody is asked for it at the terminal."""
    authority = Authority(tmp_path)
    hidden, other = authority.signed("hidden", password="secret"), authority.signed("other")
    for tls, what in [
        ({"ca": str(tmp_path / "none")}, f"{tmp_path}/none: no such file or directory"),
        ({"ca": str(hidden.key)}, f"{hidden.key}: [X509: NO_CERTIFICATE_OR_CRL_FOUND]"),
        (
            {"certificate": str(other.chain), "key": str(tmp_path / "none")},
            f"{other.chain}, {tmp_path}/none: no such file",
        ),
        ({"certificate": str(hidden.chain), "key": str(hidden.key)}, "the key has a password"),
    ]:
        with pytest.raises(ConfigError, match=re.escape(f"receivers.0: {what}")):
            otlp(1, **tls)
