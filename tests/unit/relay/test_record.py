"""The record of a connection's end: counted once, logged once."""

from __future__ import annotations

import time
from typing import Any

import pytest
from structlog.testing import capture_logs

from kproxy.observe.reasons import Reason
from kproxy.protocol.connections import ConnectionInfo
from kproxy.protocol.context import Context
from kproxy.relay.record import PROTOCOL_ERRORS, count_end, record, record_end
from tests.support.every import every
from tests.unit.relay.flows import Cluster

QUIET = {Reason.CLIENT_CLOSED, Reason.DRAINED, Reason.SHUTDOWN, Reason.REBOOTSTRAP, Reason.RETIRED_NODE}


def ended(context: Context) -> ConnectionInfo:
    """The last record of a connection that was open for five seconds."""
    return ConnectionInfo(
        id=17,
        cluster="test",
        node_id=context.node_id,
        client=context.client,
        host=context.host,
        port=context.port,
        upstream="broker:9092",
        opened=time.time() - 5,
        epoch=0,
        client_id=None,
        principal=None,
        software=None,
        metadata_version=-1,
        kip_1242=None,
        is_member=False,
        last_api=-1,
        requests=3,
        responses=1,
        bytes_in=1234,
        bytes_out=4321,
        in_flight=2,
        paused=(),
    )


def logged(context: Context, reason: Reason, detail: str = "", **fields: object) -> dict[str, Any]:
    with capture_logs() as lines:
        record(context, reason, detail, **fields)
    (line,) = lines
    return dict(line)


def opened(node_id: int | None = 7) -> tuple[Cluster, Context]:
    cluster = Cluster()
    cluster.counters.connection_opened()
    return cluster, Context(cluster, node_id, "10.0.0.9:1234", "10.9.8.7")


@every("reason", Reason)
def test_every_reason_is_counted_and_logged_once(reason: Reason) -> None:
    """As a warning where an operator must look, and as a protocol error where a peer broke the protocol."""
    cluster, context = opened()
    line = logged(context, reason)
    counters = cluster.counters
    assert (counters.connections_active, counters.closed) == (0, {reason: 1})
    assert counters.protocol_errors == ({reason: 1} if reason in PROTOCOL_ERRORS else {})
    assert line["log_level"] == ("info" if reason in QUIET else "warning")
    assert (line["event"], line["reason"], type(line["reason"])) == ("connection ended", str(reason), str)


@pytest.mark.parametrize(("node_id", "node"), [(None, "bootstrap"), (0, 0), (2147483646, 2147483646)])
def test_the_line_names_the_connection(node_id: int | None, node: object) -> None:
    """It names cluster, node, client and its id; a principal and a detail only where there is one."""
    _, context = opened(node_id)
    context.client_id = "c1"
    line = logged(context, Reason.CLIENT_CLOSED, connection=3)
    assert line == {
        "event": "connection ended",
        "log_level": "info",
        "cluster": "test",
        "node": node,
        "client": "10.0.0.9:1234",
        "client_id": "c1",
        "reason": "client_closed",
        "connection": 3,
    }
    _, context = opened()
    context.principal = "User:alice"
    assert logged(context, Reason.CLIENT_CLOSED)["principal"] == "User:alice"
    _, context = opened()
    assert logged(context, Reason.UNKNOWN_API, "api key 99")["detail"] == "api key 99"


def test_a_client_that_introduced_itself_leaves() -> None:
    """The gauge of active software falls again; the total stays."""
    cluster, context = opened()
    context.introduce("librdkafka", "2.12.0")
    logged(context, Reason.CLIENT_CLOSED)
    software = cluster.counters.software
    assert (software.active, software.total) == ({("librdkafka", "2.12.0"): 0}, {("librdkafka", "2.12.0"): 1})


def test_a_relayed_connection_logs_what_it_moved() -> None:
    """Bytes both ways, how long it was open, what was in flight."""
    cluster, context = opened()
    with capture_logs() as lines:
        count_end(context, Reason.BROKER_RESET)
        record_end(context, ended(context), Reason.BROKER_RESET, "reset")
    assert cluster.counters.closed == {Reason.BROKER_RESET: 1}
    (line,) = lines
    assert 5 <= line.pop("seconds") < 60
    assert {name: line[name] for name in ("upstream", "bytes_in", "bytes_out", "in_flight", "connection")} == {
        "upstream": "broker:9092",
        "bytes_in": 1234,
        "bytes_out": 4321,
        "in_flight": 2,
        "connection": 17,
    }
