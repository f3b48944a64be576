"""kproxy.demo.fleet.day: what is told of a day is in order, consistent, and the same for the same seed."""

from __future__ import annotations

import json
from collections import defaultdict
from hashlib import sha256
from importlib.resources import files
from itertools import pairwise
from typing import Any

from kproxy.demo.fleet.day import Day
from kproxy.observe.events import GroupTransition, encode
from tests.unit.demo.fleet.conftest import EPOCH, made

TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "long": (int,), "double": (int, float), "boolean": (bool,)}


def told(of: Day) -> list[dict[str, Any]]:
    """The events as kproxy encodes them."""
    return [json.loads(encode(event, EPOCH + at, proxy, "shop", 0).payload) for at, proxy, event in of.events()]


def digest(of: Day) -> str:
    """Of everything that a day tells."""
    summed = sha256(json.dumps(told(of)).encode())
    for proxy, push in of.pushes():
        summed.update(f"{proxy} {push.info} {push.received_at} {push.terminating}".encode() + push.payload)
    return summed.hexdigest()


def test_the_seed_makes_the_day(of_5: Day) -> None:
    """The same one makes the same, another one another."""
    assert digest(of_5) == digest(made()) != digest(made(6))


def test_as_many_clients_as_asked_for(of_5: Day) -> None:
    """Each has a name and addresses of its own."""
    clients = of_5.fleet.clients
    assert len(clients) == len({client.id for client in clients}) == 80
    addresses = [instance.address for client in clients for instance in client.instances]
    assert len(addresses) == len(set(addresses)) > 100


def test_events_have_the_fields_of_the_schema(of_5: Day) -> None:
    """With its types; all kinds are there but for those of a drain, and of a failover that finds nobody."""
    schema = {
        one["name"]: one["type"]
        for one in json.loads(files("kproxy").joinpath("schemas/events.json").read_text())["fields"]
    }
    kinds = set()
    for event in told(of_5):
        kinds.add(event["event"])
        for name, value in event.items():
            kind = schema[name] if isinstance(schema[name], str) else "array"
            assert value is None or isinstance(value, TYPES.get(kind, (list,))), (name, value)
    client = {"client_connected", "client_present", "client_disconnected"}
    others = {"topology_changed", "clients_rebootstrap", "group_transition", "error_answered", "admission_refused"}
    assert kinds == client | others


def test_events_come_in_order(of_5: Day) -> None:
    """All of them are of the day."""
    times = [timed.at for timed in of_5.events()]
    assert times == sorted(times)
    assert times[0] >= 0
    assert times[-1] < 86_400


def test_counters_never_fall(of_5: Day) -> None:
    """Of a connection, from event to event; its first event says that it came, and nothing follows its end."""
    seen: defaultdict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for event in told(of_5):
        if event["event"].startswith("client_"):
            seen[event["proxy"], event["connection"]].append(event)
    assert len(seen) == len([one for one in of_5.connections if one.ended is None or one.ended >= 0])
    for events in seen.values():
        assert len({event["since"] for event in events}) == 1
        assert "client_disconnected" not in [event["event"] for event in events[:-1]]
        assert "client_connected" not in [event["event"] for event in events[1:]]
        counted = [event for event in events if "requests" in event]
        for before, after in pairwise(counted):
            for name in ("requests", "responses", "bytes_in", "bytes_out"):
                assert before[name] <= after[name]


def test_groups_go_from_state_to_state(of_5: Day) -> None:
    """Each transition begins where the one before ended; generations rise by one."""
    states: dict[str, tuple[str, int]] = {}
    for _, _, event in of_5.events():
        if isinstance(event, GroupTransition):
            before, generation = states.get(event.group, ("Stable", event.generation))
            assert event.previous_state == before
            assert event.generation - generation == (event.state == "CompletingRebalance")
            assert 1 <= event.members <= 12
            states[event.group] = event.state, event.generation
    assert {state for state, _ in states.values()} == {"Stable"}
    assert len(states) > 15


def test_pushes_come_in_order(of_5: Day) -> None:
    """Each by way of a connection that its instance had, to the kproxy that held it; nothing after the last one."""
    held = {(one.address, one.port): one for one in of_5.connections}
    last, ended = 0.0, set()
    for proxy, push in of_5.pushes():
        assert push.received_at >= last
        last = push.received_at
        connection = held[push.info.source_address, push.info.source_port]
        assert (connection.proxy, connection.client_id) == (proxy, push.info.client_id)
        assert connection.since <= push.received_at - EPOCH
        assert push.info.client_instance_id not in ended
        if push.terminating:
            ended.add(push.info.client_instance_id)
    assert len(ended) >= 5
    assert last > EPOCH + 86_000
