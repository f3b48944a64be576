"""kproxy with an identity of its own: it follows a cluster that asks for SASL, and tells its secret to nobody."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from confluent_kafka import Consumer, TopicPartition

from kproxy.config import Identity
from kproxy.upstream.client import UpstreamClient
from kproxy.upstream.dial import open_tcp
from kproxy.wire.generated.metadata_request import MetadataRequest
from kproxy.wire.generated.metadata_response import MetadataResponse
from tests.clients.sasl.shown import WRONG, check_no_secret_is_shown, check_secrets
from tests.clients.sasl.test_upstream import produce
from tests.support.backend import Backend
from tests.support.proxy import KPROXY, Proxy
from tests.support.secured import NODE_ID, PASSWORD, Secured, secured, unsecured_token
from tests.support.wait import stays, until

ALICE = {"mechanism": "SCRAM-SHA-256", "username": "alice", "password": PASSWORD}
FAST = {"interval": "1s", "epoch_floor": "1s"}
COMMITTED, END = 3, 10
RENEWED = 5
"""Connections of a client, one after the other."""


def user(mechanism: str, name: str) -> dict[str, str]:
    """The identity of a user of the broker."""
    return {"mechanism": mechanism, "username": name, "password": PASSWORD}


@contextmanager
def identified(directory: Path, servers: Any, identity: dict[str, Any], **settings: Any) -> Iterator[Proxy]:
    """Yield a kproxy with this identity at log level debug; check at its end that nothing has shown a secret."""
    each = {"identity": identity, "groups": [{"match": ".*"}], **settings.pop("each", {})}
    topology = FAST | settings.pop("topology", {})
    log = {"format": "json", "level": "debug"}
    with Proxy(directory, {"secured": servers}, each=each, topology=topology, log=log, **settings) as proxy:
        proxy.looks.append(check_secrets)
        yield proxy
        check_no_secret_is_shown(proxy)


def wait_ready(proxy: Proxy) -> None:
    """Wait until nothing at all is wrong."""
    until(lambda: proxy.get("/readyz?strict")[0] == 200, "ready, strictly")


def reachable(proxy: Proxy) -> list[tuple[int, bool | None]]:
    """Each node, and what the last probe of it said; None before the first."""
    (cluster,) = proxy.get_json("/api/v1/clusters")["clusters"]
    return [(node["node_id"], node["reachable"]) for node in cluster["nodes"]]


def reasons(proxy: Proxy) -> str:
    """What /readyz says is wrong."""
    return " | ".join(one["reason"] for one in proxy.get_json("/readyz")["reasons"])


def committed(broker: Secured) -> str:
    """Return the name of a group, and of its topic, that has committed 3 of 10 records around kproxy."""
    topic = Backend(broker.cluster).topic(1, 1)
    plain = {"bootstrap.servers": broker.plain, "log_level": 0}
    consumer = Consumer({**plain, "group.id": topic, "enable.auto.commit": False})
    consumer.commit(offsets=[TopicPartition(topic, 0, COMMITTED)], asynchronous=False)
    consumer.close()
    return topic


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [("PLAIN", "alice"), ("SCRAM-SHA-256", "a,b=c"), ("SCRAM-SHA-512", "bob"), ("OAUTHBEARER", "carol")],
)
def test_a_cluster_that_asks_for_sasl(broker: Secured, tmp_path: Path, mechanism: str, name: str) -> None:
    """kproxy is ready, knows cluster and nodes before any client has come, and can say how far a group is behind."""
    file = tmp_path / "token"
    file.write_text(unsecured_token(name) + "\n")
    bearer = {"mechanism": mechanism, "token_file": str(file)}
    identity = bearer if mechanism == "OAUTHBEARER" else user(mechanism, name)
    group = committed(broker)
    with identified(tmp_path, broker.bootstrap, identity) as proxy:
        wait_ready(proxy)
        until(lambda: reachable(proxy) == [(NODE_ID, True)], "the node, probed")  # ready means: nothing is known wrong
        (cluster,) = proxy.get_json("/api/v1/clusters")["clusters"]
        assert cluster["cluster_id"]
        assert f"User:{name}" in until(lambda: broker.principals("kproxy"), "kproxy's requests at the broker")
        lag = proxy.get_json(f"/api/v1/clusters/secured/groups/{group}/lag")["partitions"]
        assert [(one["committed"], one["end"], one["error"]) for one in lag] == [(COMMITTED, 0, None)]
        table = ("groups", "lag", group, "--admin", f"http://127.0.0.1:{proxy.admin_port}")
        shown = subprocess.run([KPROXY, *table], capture_output=True, text=True, check=True, timeout=30)
        assert group in shown.stdout
        assert not proxy.logged(level="error")
    commands = (
        (("check", str(proxy.config), "--connect"), str(NODE_ID)),
        (("show", "--config", str(proxy.config)), "identity:"),
    )
    for arguments, wanted in commands:
        shown = subprocess.run([KPROXY, "config", *arguments], capture_output=True, text=True, check=True, timeout=30)
        check_secrets(shown.stdout + shown.stderr)
        assert wanted in shown.stdout


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_wrong_password(broker: Secured, tmp_path: Path, mechanism: str) -> None:
    """/readyz and the log say who is refused where, and why; clients that authenticate themselves pass."""
    topic = Backend(broker.cluster).topic(1, 1)
    identity = {"mechanism": mechanism, "username": "alice", "password": WRONG}
    with identified(tmp_path, broker.bootstrap, identity) as proxy:
        until(lambda: "SASL_AUTHENTICATION_FAILED" in reasons(proxy), "the reason")
        assert f"{broker.bootstrap}: {mechanism} as 'alice': the broker refuses it" in reasons(proxy)
        assert proxy.get("/readyz")[0] == 200
        assert proxy.get("/readyz?strict")[0] == 503
        assert produce(proxy.bootstrap(), topic) == 0
        (logged,) = proxy.logged(event="kproxy cannot authenticate")
        assert "check `identity`" in logged["reason"]


def test_a_refused_identity_moves_no_client(broker: Secured, tmp_path: Path) -> None:
    """The broker answers, so the upstream is not out of reach: there is no automatic failover."""
    one = {"name": "one", "bootstrap_servers": broker.bootstrap, "identity": ALICE | {"password": WRONG}}
    two = {"name": "two", "bootstrap_servers": broker.bootstrap}
    failover = {"automatic": True, "after": "1s", "floor": "1s"}
    with identified(tmp_path, {}, ALICE, each={"upstreams": [one, two], "failover": failover}) as proxy:
        until(lambda: "SASL_AUTHENTICATION_FAILED" in reasons(proxy), "the reason")
        stays(lambda: proxy.metric("kproxy_upstream_active", upstream="one") == 1, "the first stays active", 4)
        assert proxy.fail_over("secured", "two")["upstream"] == "two"  # its own identity is the virtual cluster's
        wait_ready(proxy)


def test_a_file_that_comes_late_and_changes(broker: Secured, tmp_path: Path) -> None:
    """Missing, wrong, right: each is noticed at the next poll, without a reload, and no client notices."""
    topic, file = Backend(broker.cluster).topic(1, 1), tmp_path / "password"
    identity = {"mechanism": "SCRAM-SHA-256", "username": "alice", "password_file": str(file)}
    with identified(tmp_path, broker.bootstrap, identity) as proxy:
        until(lambda: f"{file} cannot be used: no such file or directory" in reasons(proxy), "the reason")
        file.write_text(WRONG)
        until(lambda: "SASL_AUTHENTICATION_FAILED" in reasons(proxy), "the other reason")
        assert produce(proxy.bootstrap(), topic) == 0
        file.write_text(PASSWORD + "\n")
        wait_ready(proxy)
        assert produce(proxy.bootstrap(), topic) == 0
        assert proxy.metric("kproxy_topology_epoch") == 0


def test_a_listener_without_sasl(broker: Secured, tmp_path: Path) -> None:
    """It takes no identity, and the reason says so."""
    with identified(tmp_path, broker.plain, ALICE) as proxy:
        until(lambda: "the broker's listener does not ask for SASL" in reasons(proxy), "the reason")


def test_a_mechanism_that_the_broker_does_not_offer(tmp_path: Path) -> None:
    """The reason names those that it offers."""
    with (
        secured({"listener.name.front.sasl.enabled.mechanisms": "SCRAM-SHA-512,PLAIN"}) as broker,
        identified(tmp_path, broker.bootstrap, ALICE) as proxy,
    ):
        until(lambda: "does not offer this mechanism" in reasons(proxy), "the reason")
        assert "SCRAM-SHA-256 as 'alice'" in reasons(proxy)
        offered = reasons(proxy).partition("it offers ")[2].partition(";")[0]
        assert set(offered.split(", ")) == {"SCRAM-SHA-512", "PLAIN"}


def test_a_reload_changes_the_identity(broker: Secured, tmp_path: Path) -> None:
    """One that the broker refuses changes nothing; another user is taken, and no client is disconnected for it."""
    with identified(tmp_path, broker.bootstrap, ALICE) as proxy:
        wait_ready(proxy)
        client = Consumer({"bootstrap.servers": proxy.bootstrap(), "group.id": "g", "log_level": 0, **_login("a,b=c")})
        client.list_topics(timeout=30)
        proxy.reload(lambda config: config["clusters"][0].update(identity=ALICE | {"password": WRONG}))
        (refused,) = until(lambda: proxy.logged(event="reload refused, nothing has changed"), "the refusal")
        assert "SASL_AUTHENTICATION_FAILED" in refused["reason"]
        proxy.reload(lambda config: config["clusters"][0].update(identity=user("SCRAM-SHA-512", "bob")))
        (reloaded,) = until(lambda: proxy.logged(event="reloaded"), "the reload")
        assert set(reloaded["clusters"]["secured"]) == {"identity.mechanism", "identity.username"}
        until(lambda: "User:bob" in broker.principals("kproxy"), "the other user at the broker")
        wait_ready(proxy)
        client.list_topics(timeout=30)
        assert proxy.told("rebootstrap") == 0
        assert proxy.metric("kproxy_topology_epoch") == 0
        client.close()


def _login(name: str) -> dict[str, str]:
    settings = {"sasl.mechanism": "SCRAM-SHA-256", "sasl.username": name, "sasl.password": PASSWORD}
    return {"security.protocol": "SASL_PLAINTEXT", **settings}


def test_events_to_a_topic_of_the_cluster(broker: Secured, tmp_path: Path) -> None:
    """They are written with the identity that kproxy has there."""
    topic = Backend(broker.cluster).topic(1, 1)
    events = {"destinations": [{"name": "topic", "type": "kafka", "topic": topic, "cluster": "secured"}]}
    with identified(tmp_path, broker.bootstrap, ALICE, events=events) as proxy:
        wait_ready(proxy)
        assert produce(proxy.bootstrap(), Backend(broker.cluster).topic(1, 1)) == 0
        until(lambda: sum(Backend(broker.cluster).end_offsets(topic).values()), "an event in the topic", 60)


async def test_a_session_is_renewed_before_it_ends(broker: Secured) -> None:
    """The broker ends a session after 3 s (KIP-368): none of many requests fails, and there are few connections."""
    dials = 0

    async def counted(host: str, port: int) -> trio.abc.Stream:
        nonlocal dials
        dials += 1
        return await open_tcp(host, port)

    host, _, port = broker.bootstrap.rpartition(":")
    identity = Identity.model_validate(ALICE)
    client = UpstreamClient([(host, int(port))], dial=counted, identity=lambda: identity)
    async with trio.open_nursery() as nursery:
        await nursery.start(client.run)
        begun = trio.current_time()
        while dials < RENEWED:
            assert (await client.request(MetadataRequest(topics=[]), MetadataResponse)).brokers
            await trio.sleep(0.05)
        assert dials <= 1 + trio.current_time() - begun
        nursery.cancel_scope.cancel()
