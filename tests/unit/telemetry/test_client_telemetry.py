"""Telemetry of a whole process: the answers to a client that speaks KIP-714, and where its pushes go."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any
from uuid import UUID

import trio
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality, MetricsData

from kproxy.config import Config
from kproxy.local_kafka.ports import free_port
from kproxy.protocol.outcomes import Incremental
from kproxy.state.sqlite import SqliteStore
from kproxy.wire.generated.api_versions_request import ApiVersionsRequest
from kproxy.wire.generated.api_versions_response import ApiVersionsResponse
from kproxy.wire.generated.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kproxy.wire.generated.get_telemetry_subscriptions_response import GetTelemetrySubscriptionsResponse
from kproxy.wire.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kproxy.wire.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kproxy.wire.generated.push_telemetry_request import PushTelemetryRequest
from kproxy.wire.generated.push_telemetry_response import PushTelemetryResponse
from kproxy.wire.header import RequestHeader, encode_request_header
from kproxy.wire.primitives import frame
from tests.unit.app.living import HOST, Client, Living, brokers, living
from tests.unit.relay.sockets import eventually
from tests.unit.upstream.scripted_broker import ScriptedBroker

GET, PUSH, API_VERSIONS, ALTER = 71, 72, 18, 44
NOBODY = UUID(int=0)


def described(broker: ScriptedBroker, tmp_path: Path, listens: str | None = None, **telemetry: Any) -> Config:
    subscriptions = [{"name": "all", "metrics": ["*"], "interval": "100ms"}]
    cluster = {
        "name": "c",
        "bootstrap_servers": f"{HOST}:{broker.port}",
        "listen": f"{HOST}:0",
        "nodes": {"first_port": 0},
        "telemetry": {"subscriptions": subscriptions} | telemetry,
    }
    settings = {
        "clusters": [cluster],
        "receivers": [{"name": "prom", "type": "prometheus"}],
        "state": {"path": str(tmp_path / "state.db")},
        "admin": listens or f"{HOST}:{free_port()}",
        "topology": {"interval": "100ms"},
    }
    return Config.model_validate(settings)


async def asked(client: Client, key: int, body: bytes, correlation_id: int) -> bytes:
    """The body of the response, behind its header's tagged fields."""
    await client.send(frame(encode_request_header(RequestHeader(key, 0, correlation_id, "app")), body))
    return (await client.answer(correlation_id))[1:]


async def got(client: Client, instance_id: UUID = NOBODY) -> GetTelemetrySubscriptionsResponse:
    body = await asked(client, GET, GetTelemetrySubscriptionsRequest(client_instance_id=instance_id).encode(0), 2)
    return GetTelemetrySubscriptionsResponse.decode(body, 0)


def push_of(subscribed: GetTelemetrySubscriptionsResponse, value: int) -> PushTelemetryRequest:
    return PushTelemetryRequest(
        client_instance_id=subscribed.client_instance_id,
        subscription_id=subscribed.subscription_id,
        metrics=otlp(value),
    )


async def pushed(client: Client, subscribed: GetTelemetrySubscriptionsResponse, value: int) -> int:
    body = await asked(client, PUSH, push_of(subscribed, value).encode(0), 3)
    return PushTelemetryResponse.decode(body, 0).error_code


def otlp(value: int) -> bytes:
    data = MetricsData()
    metric = data.resource_metrics.add().scope_metrics.add().metrics.add(name="org.apache.kafka.producer.sent")
    metric.sum.aggregation_temporality = AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA
    metric.sum.is_monotonic = True
    metric.sum.data_points.add(as_int=value)
    encoded: bytes = data.SerializeToString()
    return encoded


async def client_of(alive: Living) -> Client:
    await alive.until_state("ready")
    client = await alive.client()
    await client.introduce("apache-kafka-java", "4.4.0")
    return client


async def test_a_push_arrives_where_prometheus_scrapes(tmp_path: Path) -> None:
    """The API is listed though the broker lacks it; pushes are answered here, added up, shown with the client."""
    async with brokers((1,)) as (broker,), living(described(broker, tmp_path)) as alive:
        client = await client_of(alive)
        header = RequestHeader(API_VERSIONS, 0, 9, "app")
        offered = ApiVersionsResponse.decode(await client.ask(header, ApiVersionsRequest().encode(0)), 0)
        assert {GET, PUSH, 74} <= {api.api_key for api in offered.api_keys}
        subscribed = await got(client)
        assert (subscribed.error_code, subscribed.requested_metrics, subscribed.push_interval_ms) == (0, [""], 100)
        assert await pushed(client, subscribed, 5) == 0
        await trio.sleep(0.15)
        assert await pushed(client, subscribed, 7) == 0
        prometheus = alive.process.clusters[0].telemetry
        assert prometheus is not None
        await eventually(lambda: prometheus.fanout.receivers[0].counters.delivered == 2, "both pushes")
        (line,) = [line for line in (await alive.text("/metrics/clients")).splitlines() if line[0] != "#"]
        assert line.startswith("org_apache_kafka_producer_sent")
        assert line.endswith(" 12.0")
        (instance,) = (await alive.get("/api/v1/clusters/c/telemetry/instances"))["instances"]
        assert (instance["client_id"], instance["pushes"], instance["subscriptions"]) == ("app", 2, ["all"])
        assert broker.requests(GET) == broker.requests(PUSH) == 0


async def test_a_push_takes_effect_in_steps(tmp_path: Path) -> None:
    """A push is checked, then handed to the receivers and answered. The relay works between these steps."""
    async with brokers((1,)) as (broker,), living(described(broker, tmp_path)) as alive:
        client = await client_of(alive)
        subscribed = await got(client)
        telemetry = alive.process.clusters[0].telemetry
        assert telemetry is not None
        handle = telemetry.policies[PUSH].request
        assert handle is not None
        (connection,) = alive.process.relay.pump.connections.values()
        head = encode_request_header(RequestHeader(PUSH, 0, 3, "app"))
        stepwise = handle(connection.context, memoryview(head + push_of(subscribed, 5).encode(0)))
        assert isinstance(stepwise, Incremental)
        (counters,) = [receiver.counters for receiver in telemetry.fanout.receivers]
        found = [(telemetry.core.tally.pushes[0], counters.offered, stepwise.frame)]
        while not stepwise.done:
            stepwise.step()
            found.append((telemetry.core.tally.pushes[0], counters.offered, stepwise.frame))
        answer = frame((3).to_bytes(4, "big") + b"\0", PushTelemetryResponse().encode(0))
        assert found == [(0, 0, None), (1, 0, None), (1, 1, answer)]


async def test_subscriptions_survive_a_restart(tmp_path: Path) -> None:
    """A subscription of the API is there after a restart; the same client has the same subscription id."""
    async with brokers((1,)) as (broker,):
        config = described(broker, tmp_path)
        path = "/api/v1/clusters/c/telemetry/subscriptions"
        async with living(config) as alive:
            client = await client_of(alive)
            status, _ = await alive.post(f"{path}/java", {"metrics": ["org.apache."], "interval_ms": 200}, "PUT")
            assert status == 200
            first = await got(client)
        async with living(config) as alive:
            client = await client_of(alive)
            shown = (await alive.get(path))["subscriptions"]
            assert [(one["name"], one["fixed"]) for one in shown] == [("all", True), ("java", False)]
            again = await got(client, first.client_instance_id)
            assert again.subscription_id == first.subscription_id
            assert await pushed(client, again, 1) == 0
            status, _ = await alive.post(f"{path}/all", {"metrics": ["x."]}, "PUT")
            assert status == 409


async def sent_alteration(client: Client, name: str) -> None:
    """IncrementalAlterConfigs, as Kafka's tool sends it: the subscription `name` to all metrics of producers."""
    config = AlterableConfig(name="metrics", config_operation=0, value="org.apache.kafka.producer.")
    resource = AlterConfigsResource(resource_type=16, resource_name=name, configs=[config])
    request = IncrementalAlterConfigsRequest(resources=[resource])
    await client.send(frame(encode_request_header(RequestHeader(ALTER, 1, 7, "app")), request.encode(1)))


async def altered(client: Client) -> tuple[int, str | None]:
    """Error code and message of the answer."""
    (one,) = IncrementalAlterConfigsResponse.decode((await client.answer(7))[1:], 1).responses
    return one.error_code, one.error_message


def store_of(alive: Living) -> SqliteStore:
    telemetry = alive.process.clusters[0].telemetry
    assert telemetry is not None
    store = telemetry._store
    assert isinstance(store, SqliteStore)
    return store


async def test_an_alteration_is_answered_once_it_is_on_the_disk(tmp_path: Path) -> None:
    """While the disk is busy with something else the client waits, as Kafka's clients wait for its controllers."""
    async with brokers((1,)) as (broker,), living(described(broker, tmp_path, admin="any")) as alive:
        client, store, telemetry = await client_of(alive), store_of(alive), alive.process.clusters[0].telemetry
        assert telemetry is not None
        busy, free = threading.Event(), threading.Event()

        def other_work(_: object) -> None:
            busy.set()
            free.wait(10)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(store._done, other_work)
            await eventually(busy.is_set, "a busy disk")
            await sent_alteration(client, "tool")
            # kproxy may have other state to write meanwhile, so the number of writes that wait says nothing.
            await eventually(lambda: telemetry.core.subscriptions.get("tool") is not None, "the alteration")
            with trio.move_on_after(0.2) as early:
                await altered(client)
            assert early.cancelled_caught
            free.set()
        assert await altered(client) == (0, None)
        assert await store.get("telemetry/c", "tool") is not None


async def test_an_alteration_that_is_not_kept_is_reported(tmp_path: Path) -> None:
    """Kafka's tool and the API get the reason why a restart will lose it; it is in effect all the same."""
    async with brokers((1,)) as (broker,), living(described(broker, tmp_path, admin="any")) as alive:
        client = await client_of(alive)
        await store_of(alive).close()
        await sent_alteration(client, "tool")
        code, message = await altered(client)
        assert (code, "in effect until kproxy restarts, but was not kept" in str(message)) == (56, True)
        path = "/api/v1/clusters/c/telemetry/subscriptions"
        status, answer = await alive.post(f"{path}/api", {"metrics": ["*"]}, "PUT")
        assert (status, "api is in effect until kproxy restarts" in json.dumps(answer)) == (500, True)
        assert {one["name"] for one in (await alive.get(path))["subscriptions"]} == {"all", "api", "tool"}


async def test_what_a_connection_was_ends_with_it(tmp_path: Path) -> None:
    """A receiver learns that the connection of a push has ended: it may give back what only that client had."""
    async with brokers((1,)) as (broker,), living(described(broker, tmp_path)) as alive:
        client = await client_of(alive)
        assert await pushed(client, await got(client), 5) == 0
        telemetry = alive.process.clusters[0].telemetry
        assert telemetry is not None
        (receiver,) = telemetry.prometheus
        await eventually(lambda: receiver.accumulator.tally.series == 1, "the series")
        (source,) = receiver.accumulator._registry.sources.values()
        assert not source.gone
        await client.stream.aclose()
        await eventually(lambda: source.gone, "the end of the connection")


async def test_quotas_are_those_of_the_settings(tmp_path: Path) -> None:
    """A push beyond them is refused; owner and operator see why. A reload changes them at once."""
    async with brokers((1,)) as (broker,), living(described(broker, tmp_path, max_fields=5)) as alive:
        client = await client_of(alive)
        subscribed = await got(client)
        assert await pushed(client, subscribed, 5) == 118
        (instance,) = (await alive.get("/api/v1/clusters/c/telemetry/instances"))["instances"]
        assert (instance["last_error"], instance["last_error_reason"]) == (
            "TELEMETRY_TOO_LARGE",
            "more than 5 fields in one push of its size",
        )
        line = 'kproxy_telemetry_refused_total{cluster="c",reason="fields"} 1.0'
        assert line in (await alive.text("/metrics")).splitlines()
        alive.config = described(broker, tmp_path, alive.listens, require_principal=True)
        os.kill(os.getpid(), signal.SIGHUP)
        telemetry = alive.process.clusters[0].telemetry
        assert telemetry is not None
        await eventually(lambda: telemetry.core.quotas.require_principal, "the reload")
        assert (await got(client, subscribed.client_instance_id)).error_code == 31
        assert await pushed(client, subscribed, 5) == 31


async def test_a_reload_changes_subscriptions(tmp_path: Path) -> None:
    """The next push gets 117, and the next get has the new subscriptions; an invalid regex changes nothing."""
    async with brokers((1,)) as (broker,), living(described(broker, tmp_path)) as alive:
        client = await client_of(alive)
        subscribed = await got(client)
        others = [{"name": "all", "metrics": ["org.apache.kafka.producer."], "interval": "100ms"}]
        alive.config = described(broker, tmp_path, alive.listens, subscriptions=others, admin="none")
        os.kill(os.getpid(), signal.SIGHUP)
        telemetry = alive.process.clusters[0].telemetry
        assert telemetry is not None
        await eventually(lambda: telemetry.admin == "none", "the reload")
        assert await pushed(client, subscribed, 1) == 117
        subscribed = await got(client, subscribed.client_instance_id)
        assert subscribed.requested_metrics == ["org.apache.kafka.producer."]
        bad = [{"name": "all", "metrics": ["*"], "match": {"client_id": "("}}]
        alive.config = described(broker, tmp_path, alive.listens, subscriptions=bad)
        os.kill(os.getpid(), signal.SIGHUP)
        await trio.sleep(0.3)
        assert telemetry.admin == "none"
