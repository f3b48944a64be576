"""kproxy.relay.response_errors: the errors of responses are reported where somebody listens."""

from __future__ import annotations

import pytest

from tests.property.wire_contents import Content
from tests.unit.relay import frames
from tests.unit.relay.exchanges import FETCH, exchange, fetched
from tests.unit.relay.flows import Cut, Relay, by, play, whole

About = tuple[str, int, int, str | None, str | None]

NESTED: list[tuple[int, int, Content, list[About]]] = [
    (
        0,
        9,
        {"Responses": [{"Name": "orders", "PartitionResponses": [{"ErrorCode": 29}, {"ErrorCode": 6}]}]},
        [("Produce", 9, 29, "orders", None)],
    ),
    (
        0,
        12,
        {"Responses": [{"Name": "orders", "PartitionResponses": [{"ErrorCode": 48}]}]},
        [("Produce", 12, 48, "orders", None)],
    ),
    (3, 12, {"Topics": [{"ErrorCode": 29, "Name": "orders"}]}, [("Metadata", 12, 29, "orders", None)]),
    (
        9,
        9,
        {"Groups": [{"GroupId": "g", "Topics": [{"Name": "orders", "Partitions": [{"ErrorCode": 30}]}]}]},
        [("OffsetFetch", 9, 30, "orders", "g")],
    ),
    (12, 4, {"ErrorCode": 25}, [("Heartbeat", 4, 25, None, None)]),
    (12, 4, {"ErrorCode": 16}, []),
]


def listening() -> Relay:
    """A relay whose virtual cluster's events have a destination."""
    relay = Relay()
    relay.cluster.listens = True
    return relay


def reported(relay: Relay) -> list[About]:
    return [(one.api, one.api_version, one.error_code, one.topic, one.group) for one in relay.cluster.reported]


@pytest.mark.parametrize(("key", "version", "content", "expected"), NESTED)
def test_errors_are_reported(key: int, version: int, content: Content, expected: list[About]) -> None:
    """Those that libraries do not retry, of responses that pass, that are held, and that are only glanced at."""
    relay = play(exchange(key, version, frames.response(key, version, 1, content)), listening)
    assert reported(relay) == expected
    assert relay.errors()


@pytest.mark.parametrize("cut", [whole, by(300)])
def test_errors_of_a_stream_are_reported(cut: Cut) -> None:
    """Once it is over: its codes are found as they come."""
    sent = fetched(FETCH, 16, 1, [(29, b"r" * 900), (87, b"")])
    relay = listening().play(exchange(FETCH, 16, sent), cut)
    assert reported(relay) == [("Fetch", 16, 29, None, None), ("Fetch", 16, 87, None, None)]


def test_nobody_listens() -> None:
    """Errors are counted all the same."""
    relay = play(exchange(12, 4, frames.response(12, 4, 1, {"ErrorCode": 25})))
    assert relay.cluster.reported == []
    assert relay.errors() == {(12, 4): {25: 1}}
