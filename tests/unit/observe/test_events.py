"""kproxy.observe.events: events as JSON and as log lines; docs and schema made from their definition."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from kproxy.observe.event_schema import PAGE, SPARK_SCHEMA, columns, spark_schema, with_tables, write
from kproxy.observe.events import (
    EVENTS,
    MAX_TEXT,
    SCHEMA,
    AdmissionRefused,
    AuthenticationResult,
    ClientConnected,
    ClientDisconnected,
    ClientPresent,
    ClientsRebootstrap,
    ClientsSentToSiblings,
    ErrorAnswered,
    Event,
    FaultInjected,
    GroupTransition,
    Name,
    NoUpstreamAnswers,
    OperatorCommand,
    StandbyReplaced,
    TopologyChanged,
    TopologyEvent,
    UpstreamPassedOver,
    bounded,
    encode,
    iso,
)

ROOT = Path(__file__).parents[3]
AT = 1_769_860_800.0625
CLIENT = (7, iso(AT), "10.0.0.9", 1234, None, "broker:9092", "app", "librdkafka", "2.12.0", None, 12, "kip-899", True)
HEAD = '"at":"2026-01-31T12:00:00.062Z","schema":1,"proxy":"kproxy-0","cluster":"orders","number":9'
WHO = (
    '"connection":7,"since":"2026-01-31T12:00:00.062Z","address":"10.0.0.9","port":1234,"node":null,'
    '"broker":"broker:9092","client_id":"app","software_name":"librdkafka","software_version":"2.12.0",'
    '"principal":null,"metadata_version":12,"rebootstrap":"kip-899","kip_1242":true'
)
TRAFFIC = '"requests":1,"responses":2,"bytes_in":3,"bytes_out":4'
WRITTEN: list[tuple[Event, str]] = [
    (ClientConnected(*CLIENT), WHO),
    (ClientPresent(*CLIENT, 1, 2, 3, 4), f"{WHO},{TRAFFIC}"),
    (
        ClientDisconnected(*CLIENT, 1, 2, 3, 4, "client_closed", None, 0.5),
        f'{WHO},{TRAFFIC},"reason":"client_closed","detail":null,"seconds":0.5',
    ),
    (TopologyChanged(None, (3,), (1, 2), ()), '"cluster_id":null,"added":[3],"gone":[1,2],"moved":[]'),
    (
        ClientsRebootstrap("failover", 2, 9, "b", "a", None, None),
        '"cause":"failover","epoch":2,"connections":9,"upstream":"b","previous_upstream":"a",'
        '"cluster_id":null,"previous_cluster_id":null',
    ),
    (ClientsSentToSiblings(5, 0.8), '"clients":5,"seconds":0.8'),
    (UpstreamPassedOver("a", "b", "node 7"), '"upstream":"a","candidate":"b","detail":"node 7"'),
    (NoUpstreamAnswers("a"), '"upstream":"a"'),
    (
        StandbyReplaced("a", "b", "C", "B"),
        '"upstream":"a","candidate":"b","cluster_id":"C","previous_cluster_id":"B"',
    ),
    (
        GroupTransition("g", 4, "Stable", "PreparingRebalance", "member_left", "app-1", 3, ("app-2",), 61.5),
        '"group":"g","generation":4,"previous_state":"Stable","state":"PreparingRebalance","cause":"member_left",'
        '"client_id":"app-1","members":3,"waited_for":["app-2"],"seconds":61.5',
    ),
    (
        ErrorAnswered(
            connection=7,
            since=iso(AT),
            address="10.0.0.9",
            client_id="app",
            software_name="librdkafka",
            software_version="2.12.0",
            principal=None,
            api="Produce",
            api_version=9,
            error_code=29,
            error="TOPIC_AUTHORIZATION_FAILED",
            error_class="invalid-configuration",
            topic="orders",
            group=None,
            left_out=17,
        ),
        '"connection":7,"since":"2026-01-31T12:00:00.062Z","address":"10.0.0.9","client_id":"app",'
        '"software_name":"librdkafka","software_version":"2.12.0","principal":null,"api":"Produce","api_version":9,'
        '"error_code":29,"error":"TOPIC_AUTHORIZATION_FAILED","error_class":"invalid-configuration",'
        '"topic":"orders","group":null,"left_out":17',
    ),
    (
        OperatorCommand("POST /api/v1/reload", "10.0.0.9", 401, "the token is not that of `admin.token_file`", None, 0),
        '"command":"POST /api/v1/reload","address":"10.0.0.9","status":401,'
        '"refused":"the token is not that of `admin.token_file`","certificate":null,"left_out":0',
    ),
    (
        AuthenticationResult("10.0.0.9", "app", None, "PLAIN", "the user is unknown or the password is wrong", 3),
        '"address":"10.0.0.9","client_id":"app","principal":null,"mechanism":"PLAIN",'
        '"refused":"the user is unknown or the password is wrong","left_out":3',
    ),
    (
        AdmissionRefused("10.0.0.9", 2, None, "address_rate", "more than 50 a second", 40),
        '"address":"10.0.0.9","node":2,"client_id":null,"reason":"address_rate","detail":"more than 50 a second",'
        '"left_out":40',
    ),
    (
        FaultInjected(7, None, "10.0.0.9", "app", "librdkafka", "2.16.0", None, "Produce", 12, "delay", None, 0.5, 3),
        '"connection":7,"since":null,"address":"10.0.0.9","client_id":"app","software_name":"librdkafka",'
        '"software_version":"2.16.0","principal":null,"api":"Produce","api_version":12,"fault":"delay","error":null,'
        '"delay":0.5,"rule":3',
    ),
]
LOGGED: list[tuple[TopologyEvent, str, dict[str, object]]] = [
    (TopologyChanged(None, (), (1, 2), ()), "topology changed", {"gone": "1 2"}),
    (TopologyChanged("C", (3,), (), (4,)), "topology changed", {"added": "3", "moved": "4", "cluster_id": "C"}),
    (
        ClientsRebootstrap("failover", 1, 2, "b", "a", None, None),
        "clients rebootstrap",
        {"cause": "failover", "epoch": 1, "connections": 2, "upstream": "b", "previous": "a"},
    ),
    (
        ClientsRebootstrap("cluster_changed", 1, 2, "a", None, "C", "A"),
        "clients rebootstrap",
        {"cause": "cluster_changed", "epoch": 1, "connections": 2, "cluster_id": "C", "previous": "A"},
    ),
    (
        ClientsRebootstrap("operator", 1, 0, "a", None, None, None),
        "clients rebootstrap",
        {"cause": "operator", "epoch": 1, "connections": 0},
    ),
    (ClientsSentToSiblings(1, 2.0), "clients are sent to siblings", {"clients": 1, "seconds": 2.0}),
    (UpstreamPassedOver("a", "b", "node 7"), "an upstream cluster is passed over", {"to": "b", "why": "node 7"}),
    (NoUpstreamAnswers("a"), "no upstream cluster answers", {"active": "a"}),
    (
        StandbyReplaced("a", "b", "C", "B"),
        "a standby is another cluster than before",
        {"standby": "b", "cluster_id": "C", "previous": "B"},
    ),
]


@pytest.mark.parametrize(("event", "own"), WRITTEN)
def test_how_events_are_written(event: Event, own: str) -> None:
    """Exact bytes: one line of JSON, with the common fields first, then the event's own, nulls included."""
    encoded = encode(event, AT, "kproxy-0", "orders", 9)
    assert encoded.payload.decode() == f'{{"event":"{event.name}",{HEAD},{own}}}'
    assert (encoded.name, encoded.at_ms) == (event.name, 1_769_860_800_062)
    assert encoded.key == (
        b"kproxy-0/7" if isinstance(event, ClientConnected | ErrorAnswered | FaultInjected) else b"orders"
    )


@pytest.mark.parametrize(("event", "text", "shown"), LOGGED)
def test_how_events_are_logged(event: TopologyEvent, text: str, shown: dict[str, object]) -> None:
    """The log line is made from the event; unchanged values are left out."""
    assert (event.log, event.log_fields()) == (text, shown)


def test_all_events_are_tried_above() -> None:
    """Every event has a name, and every name an event."""
    assert [event.name for event, _ in WRITTEN] == [event.name for event in EVENTS] == list(Name)
    assert {event.name for event, _, _ in LOGGED} == {event.name for event in EVENTS if hasattr(event, "log")}


def test_texts_of_clients() -> None:
    """Any text becomes one line of UTF-8, cut to its limit."""
    encoded = encode(ClientConnected(*CLIENT[:6], 'a\n"ж\ud800', *CLIENT[7:]), AT, "p", "c", 1)
    assert json.loads(encoded.payload)["client_id"] == 'a\n"ж?'
    assert encoded.payload.count(b"\n") == 0
    assert bounded(None) is None
    assert bounded("x" * 40_000) == "x" * MAX_TEXT
    assert iso(0) == "1970-01-01T00:00:00.000Z"


def test_columns_are_the_fields() -> None:
    """Each field of each event is one column, of one type, with its meaning."""
    found = columns()
    assert len({column.name for column in found}) == len(found)
    for event in EVENTS:
        own = {column.name for column in found if event.name in column.events}
        assert own == {"event", "at", "schema", "proxy", "cluster", "number", *(one.name for one in fields(event))}
    assert all(column.help for column in found)


def test_the_schema_is_sparks() -> None:
    """The schema is a struct for pyspark's `StructType.fromJson`: these keys, these types, all nullable."""
    schema = json.loads(spark_schema())
    assert (schema["type"], list(schema)) == ("struct", ["type", "fields"])
    arrays = {f"array<{of}>": {"type": "array", "elementType": of, "containsNull": False} for of in ("long", "string")}
    for column, found in zip(columns(), schema["fields"], strict=True):
        assert found == {
            "name": column.name,
            "type": arrays.get(column.kind, column.kind),
            "nullable": True,
            "metadata": {"comment": column.help},
        }
        assert column.kind in ("string", "long", "double", "boolean", *arrays)


def test_what_is_written_is_the_present_one(tmp_path: Path) -> None:
    """`make generate` would change nothing."""
    for path in (SPARK_SCHEMA, PAGE):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / PAGE).write_text((ROOT / PAGE).read_text())
    write(tmp_path)
    for path in (SPARK_SCHEMA, PAGE):
        assert (tmp_path / path).read_text() == (ROOT / path).read_text()
    assert f"cut at {MAX_TEXT} characters" in (ROOT / PAGE).read_text()
    assert SCHEMA == 1


def test_a_page_without_its_table() -> None:
    """If a page has lost its table, the error has the section's name."""
    with pytest.raises(ValueError, match=r"^Every event: there is no table$"):
        with_tables("# Events\n")
