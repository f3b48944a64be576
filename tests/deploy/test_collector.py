"""A real OpenTelemetry collector takes what real clients push, by HTTP and by HTTPS, and across its own restart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.deploy.support.otelcol import TOKEN, Otelcol
from tests.support import telemetry
from tests.support.backend import Backend
from tests.support.client import Running
from tests.support.proxy import Proxy
from tests.support.side import Side
from tests.support.telemetry import ACKNOWLEDGED, CONNECTIONS, SENT, UPTIME, Collector, Pushed
from tests.support.wait import until

JAVA, LIBRDKAFKA, FRANZ_GO = "java", "librdkafka", "franz-go"
ONCE = {JAVA: CONNECTIONS, LIBRDKAFKA: CONNECTIONS, FRANZ_GO: UPTIME}
"""Each client, with a metric that occurs once in each of its pushes."""
TAKEN = ("plain", "secure")
RECORDS = 120


@dataclass(frozen=True)
class Taken:
    """What each receiver of a kproxy delivered, once the clients had ended and their last pushes were through."""

    proxy: Proxy
    received: Mapping[str, list[Pushed]]

    def metric(self, name: str, receiver: str, **labels: str) -> float:
        """Return one of kproxy's counters of a receiver's pushes."""
        return self.proxy.metric(f"kproxy_telemetry_receiver_{name}_total", receiver=receiver, **labels)

    def settled(self, receiver: str) -> bool:
        """True when a receiver has delivered or dropped all that it was offered."""
        return self.metric("offered", receiver) == self.metric("delivered", receiver) + self.metric("dropped", receiver)


@pytest.fixture(scope="module")
def taken(newest_kafka: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Taken]:
    """Three clients push everything each second until they end; meanwhile the collector stops and starts again."""
    directory, topic = tmp_path_factory.mktemp("collector"), newest_kafka.topic()
    with (
        Collector() as plain,
        Collector() as secure,
        Otelcol(directory, plain_to=plain.url, secure_to=secure.url) as otelcol,
        Proxy(
            directory,
            {"kafka": newest_kafka.cluster.bootstrap},
            each={"telemetry": {"interval": "1s", "subscriptions": [{"name": "everything", "metrics": "*"}]}},
            receivers=receivers(otelcol, directory),
        ) as proxy,
    ):
        found = Taken(proxy, {"plain": plain.pushed, "secure": secure.pushed})
        with ExitStack() as clients:
            started = start(clients, Side(proxy, "kafka", newest_kafka, directory), topic)
            until(lambda: all(found.metric("delivered", one) >= 3 for one in TAKEN), "clients push")
            otelcol.stop()
            until(lambda: all(found.metric("retries", one) for one in TAKEN), "kproxy tries again")
            otelcol.start()
            for client in started:
                client.wait()
        for one in ("files", *TAKEN, "stranger", "wary"):
            until(partial(found.settled, one), f"{one} has delivered or dropped everything", 60)
        until(lambda: not list(directory.glob("pushes/.*")), "every file is complete")
        yield Taken(proxy, {**found.received, "files": telemetry.in_files(directory / "pushes")})


def receivers(otelcol: Otelcol, directory: Path) -> list[dict[str, object]]:
    """Return two receivers that the collector accepts, one with a wrong token, one trusting system authorities only."""
    secure = {"type": "otlp", "url": otelcol.secure, "compression": "zstd"}
    headers, tls = {"Authorization": f"Bearer {TOKEN}"}, {"ca": str(otelcol.authority.file)}
    return [
        {"name": "files", "type": "files", "directory": str(directory / "pushes"), "file_age": "1s"},
        {"name": "plain", "type": "otlp", "url": otelcol.plain, "compression": "gzip"},
        {"name": "secure", **secure, "headers": headers, "tls": tls},
        {"name": "stranger", **secure, "headers": {"Authorization": "Bearer another"}, "tls": tls},
        {"name": "wary", **secure, "headers": headers, "retry_for": "1s"},
    ]


def start(clients: ExitStack, side: Side, topic: str) -> list[Running]:
    """Start one client of each library."""
    commands = (
        telemetry.java_producer(side.bootstrap, side.directory, JAVA, topic, RECORDS),
        telemetry.librdkafka_producer(side.bootstrap, LIBRDKAFKA, topic, RECORDS),
        telemetry.franz_go_client(side.bootstrap, FRANZ_GO, topic, RECORDS),
    )
    return [clients.enter_context(side.running(command)) for command in commands]


@pytest.mark.parametrize("client_id", ONCE)
@pytest.mark.parametrize("way", TAKEN)
def test_it_takes_everything_once(taken: Taken, way: str, client_id: str) -> None:
    """By gzip and by zstd with TLS and a token: as many pushes as in the files, with the same sum of each metric."""
    at = {name: telemetry.totals(client_id, pushed, ONCE[client_id]) for name, pushed in taken.received.items()}
    assert at[way] == at["files"]
    assert at[way].pushes >= 3
    own = {JAVA: SENT, FRANZ_GO: ACKNOWLEDGED}.get(client_id)
    assert own is None or at[way].sums[own] == RECORDS


@pytest.mark.parametrize("way", TAKEN)
def test_nothing_is_lost_while_it_is_down(taken: Taken, way: str) -> None:
    """A push that the collector does not take is retried until it does: all are delivered, none is dropped."""
    assert taken.metric("retries", way) > 0
    assert taken.metric("dropped", way) == 0
    pushes = taken.proxy.metric("kproxy_telemetry_requests_total", api="PushTelemetry", error="NONE")
    assert taken.metric("delivered", way) == pushes > 0


def test_a_wrong_token_is_refused(taken: Taken) -> None:
    """401 is final: nothing gets past it, nothing is retried for ever, and the log names the answer."""
    assert taken.metric("dropped", "stranger", reason="refused") == taken.metric("offered", "stranger") > 0
    assert any(" 401" in str(line) for line in taken.proxy.logged(event="cannot deliver", to="stranger"))


def test_an_unknown_authority_is_not_trusted(taken: Taken) -> None:
    """No push goes to a server with an unknown authority; each push is dropped when its time is over."""
    assert taken.metric("dropped", "wary", reason="late") == taken.metric("offered", "wary") > 0
    assert any("check the certificate" in str(line) for line in taken.proxy.logged(event="cannot deliver", to="wary"))
