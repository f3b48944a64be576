"""Faults of kproxy's own, planted where one used to end the process: it serves on, and says where it failed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from kproxy.admin.acceptor import Acceptor
from kproxy.app import client_events
from kproxy.app.client_events import ClientEvents
from kproxy.cluster import nodes
from kproxy.delivery.destinations import Fanout
from kproxy.observe import troubles
from kproxy.observe.counters import SoftwareCounts
from kproxy.observe.reasons import Reason
from kproxy.relay import arrival, pump
from kproxy.relay.connection import Connection
from kproxy.relay.lingering_close import LingeringSocket, LingeringSockets
from kproxy.relay.port import RelayedConnections
from kproxy.relay.pump import Pump
from kproxy.relay.trio_epoll import Turns
from kproxy.routing.address_map import AddressMap
from kproxy.state.kept import Kept
from kproxy.telemetry import client_telemetry
from kproxy.telemetry.instances import Instances
from kproxy.topology.failover import Failover
from kproxy.topology.watcher import Watcher
from tests.support.bounds import Bounds
from tests.unit.app.living import HOST, Living, brokers, living, settings
from tests.unit.relay.sockets import eventually, stage
from tests.unit.upstream.scripted_broker import ScriptedBroker

GARBAGE = b"\xff" * 64


class Planted:
    """Replaces a function by one that fails once, when armed, and otherwise does its work."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        self.armed = False
        self.failed = 0
        real = getattr(owner, name)

        def planted(*args: Any, **kwargs: Any) -> Any:
            if self.armed:
                self.armed = False
                self.failed += 1
                raise ValueError("planted")
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, name, planted)


CLOSE_PATH = [
    ("close", SoftwareCounts, "closed"),
    ("close", pump, "record_end"),
    ("events", ClientEvents, "ended"),
    ("lingering", LingeringSockets, "add"),
    ("lingering", LingeringSocket, "end"),
    ("admit", arrival, "Context"),
    ("admit", arrival, "_host"),
]
TASKS = [
    ("sweep", LingeringSockets, "sweep"),
    ("sweep", Pump, "_overdue"),
    ("pump", Pump, "_round"),
    ("pump", Turns, "take"),
    ("retired_nodes", AddressMap, "expire"),
    ("failover", Failover, "observe"),
    ("telemetry", Instances, "expired"),
    ("events", RelayedConnections, "numbers"),
    ("events", ClientEvents, "_introduce"),
    ("watcher", Watcher, "_pause"),
    ("state", Kept, "_write"),
]


def served(tmp_path: Path, *of: ScriptedBroker) -> Any:
    """Return settings with telemetry and an event stream, so that every place is there."""
    config = settings(
        *of, events={"destinations": [{"name": "lake", "type": "files", "directory": str(tmp_path)}], "interval": "1s"}
    )
    clusters = [one.model_dump(exclude_unset=True, mode="json") | {"telemetry": {}} for one in config.clusters]
    return type(config).model_validate(config.model_dump(exclude_unset=True, mode="json") | {"clusters": clusters})


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every sweep come several times a second, and a fault degrade readiness for a moment only."""
    monkeypatch.setattr(troubles, "RECENT_SECONDS", 4.0)
    monkeypatch.setattr(pump, "_SWEEP_SECONDS", 0.1)
    monkeypatch.setattr(nodes, "EXPIRY_SECONDS", 0.1)
    monkeypatch.setattr(client_telemetry, "EXPIRY_SECONDS", 0.1)
    monkeypatch.setattr(client_events, "LOOK", 0.1)


async def comes_and_goes(alive: Living, *, last: bytes = b"") -> None:
    """Connect, introduce oneself, and leave; `last` makes kproxy end the connection."""
    client = await alive.client()
    try:
        await client.introduce("test", "1")
        if last:
            await client.send(last)
            await client.receive_all()
    except (trio.BrokenResourceError, AssertionError, OSError):
        pass  # this is the connection that the fault is about
    await client.close()


async def stays_up(alive: Living, where: str, planted: Planted, act: Callable[[], Any]) -> None:
    """Plant the fault, and check that kproxy counts it, degrades, serves on, and is ready again with nothing left."""
    errors = alive.process.counters.troubles.errors
    assert errors[where] == 0
    with capture_logs() as lines:  # in place of tracebacks that take seconds to print
        planted.armed = True
        await act()
        await eventually(lambda: errors[where] == 1, f"a fault at {where}")
        reasons = (await alive.until_state("degraded"))["reasons"]
    assert [line["where"] for line in lines if isinstance(line.get("exc_info"), BaseException)] == [where]
    assert any(f"({where})" in reason["reason"] for reason in reasons), reasons
    client = await alive.client()
    await client.introduce("test", "1")
    await alive.until_state("ready")
    await client.introduce("test", "1")
    await client.close()
    relay, counters = alive.process.relay, alive.process.clusters[0].counters
    await eventually(lambda: counters.connections_active == 0 and not relay.pump.connections, "all ends are counted")
    await eventually(lambda: not relay.pump.lingering and not relay.acceptor.waiting, "no socket is left")
    assert sum(counters.closed.values()) == counters.connections_opened
    assert f'kproxy_internal_errors_total{{where="{where}"}} 1.0' in await alive.text("/metrics")
    assert planted.failed == sum(errors.values()) == 1
    assert not alive.over.is_set()


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("where", "owner", "name"), CLOSE_PATH, ids=lambda value: getattr(value, "__name__", value))
async def test_a_connection_whose_start_or_end_fails_ends_alone(
    where: str, owner: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sockets are closed and its end is counted, whatever part of its close path fails; the others are served."""
    planted = Planted(monkeypatch, owner, name)
    async with brokers((1,)) as (broker,), living(served(tmp_path, broker)) as alive:
        await alive.until_state("ready")
        last = b"" if where == "admit" else GARBAGE  # it closes inside the handler of another error
        await stays_up(alive, where, planted, lambda: comes_and_goes(alive, last=last))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("where", "owner", "name"), TASKS, ids=lambda value: getattr(value, "__name__", value))
async def test_a_task_that_fails_begins_again(
    where: str, owner: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process goes on, the task works again, and readiness names its place for a while."""
    planted = Planted(monkeypatch, owner, name)
    async with brokers((1,)) as (broker,), living(served(tmp_path, broker)) as alive:
        await alive.until_state("ready")

        async def act() -> None:
            if where == "state":
                cluster = alive.process.clusters[0]
                cluster._history.keep(cluster.kept)
            client = await alive.client()
            await client.say_hello("test", "1")
            await eventually(lambda: planted.failed == 1, "the fault", 10)
            await client.close()

        await stays_up(alive, where, planted, act)


@pytest.mark.usefixtures("quick")
async def test_a_fault_at_each_pass_of_the_pump(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process rests between its attempts instead of spinning, answers probes meanwhile, and recovers."""
    failing = False
    real = Pump._round

    def round_(self: Pump, events: list[tuple[int, int]], now: float) -> bool:
        if failing:
            raise ValueError("planted")
        return real(self, events, now)

    monkeypatch.setattr(Pump, "_round", round_)
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        errors = alive.process.counters.troubles.errors
        failing = True
        with capture_logs() as lines:
            await eventually(lambda: errors["pump"] >= 4, "several passes", 10)
            assert (await alive.get("/readyz"))["state"] == "degraded"
        assert [line["where"] for line in lines if "fault in kproxy" in line["event"]] == ["pump"]
        assert errors["pump"] < 40
        failing = False
        client = await alive.client()
        await client.introduce("test", "1")


@pytest.mark.usefixtures("quick")
async def test_a_receiver_of_events_that_fails_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Delivery begins again."""
    planted = Planted(monkeypatch, Fanout, "_keep")
    planted.armed = True
    async with brokers((1,)) as (broker,), living(served(tmp_path, broker)) as alive:
        await eventually(lambda: planted.failed == 1, "the fault")
        await alive.until_state("ready")
        assert alive.process.counters.troubles.errors["delivery"] == 1
        assert alive.process.events is not None
        await comes_and_goes(alive)
        await eventually(lambda: alive.process.events.queues["lake"].offered > 0, "events", 10)  # type: ignore[union-attr]


@pytest.mark.usefixtures("quick")
async def test_a_reload_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault while the configuration is read or applied ends neither the process nor later reloads."""
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        from kproxy.app import reload

        fault = Planted(monkeypatch, reload, "changes")
        fault.armed = True
        os.kill(os.getpid(), signal.SIGHUP)
        errors = alive.process.counters.troubles.errors
        await eventually(lambda: errors["reload"] == 1, "the fault")
        with capture_logs() as lines:
            os.kill(os.getpid(), signal.SIGHUP)
            await eventually(lambda: any(line["event"] == "reloaded" for line in lines), "the next reload")


@pytest.mark.usefixtures("quick")
async def test_the_admin_port_listens_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of its listener is noted, and it accepts again at the same port."""
    accept_some = Acceptor._accept_some

    def accept(acceptor: Acceptor) -> None:
        if failing:
            raise ValueError("planted")
        accept_some(acceptor)

    failing = False
    monkeypatch.setattr(Acceptor, "_accept_some", accept)
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        failing = True
        stream = await trio.open_tcp_stream(HOST, alive.admin)
        await eventually(lambda: alive.process.counters.troubles.errors["admin"] >= 1, "the fault")
        failing = False
        await stream.aclose()
        with trio.fail_after(40):
            while True:
                try:
                    assert (await alive.get("/livez"))["state"] == "alive"
                    break
                except OSError:
                    await trio.sleep(0.02)


async def test_a_loop_that_stands_still_is_told(monkeypatch: pytest.MonkeyPatch, bounds: Bounds) -> None:
    """The log names what holds the loop while it is held; the histogram and the counter have it afterwards."""
    held = False
    real = Pump._round

    def round_(self: Pump, events: list[tuple[int, int]], now: float) -> bool:
        nonlocal held
        if not held and self.connections:
            held = True
            holds_the_loop()
        return real(self, events, now)

    def holds_the_loop() -> None:
        ends = time.monotonic() + 10
        while not any("stands still" in line["event"] for line in lines) and time.monotonic() < ends:
            pass

    monkeypatch.setattr(Pump, "_round", round_)
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        with capture_logs() as lines:
            await comes_and_goes(alive)
        (told,) = (line for line in lines if "stands still" in line["event"])
        assert any(frame.endswith("holds_the_loop") for frame in told["stack"])
        assert told["seconds"] >= 0.25
        bounds.below(told["seconds"], 5, "seconds until the watchdog tells")
        page = await alive.text("/metrics")
        assert 'kproxy_loop_stalls_total{what="loop"} 1.0' in page
        assert 'kproxy_loop_lag_seconds_bucket{le="+Inf"}' in page
        lag = alive.process.counters.loop_lag
        assert sum(lag.counts[8:]) >= 1


async def test_tasks_that_stand_still_while_the_pump_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pump that forgets Trio's tasks is told, although it serves connections."""
    real = Pump._relay
    over = False

    def relay(self: Pump, turns: Turns) -> None:
        ends = time.monotonic() + 20
        while over and not self._lag.stalls["tasks"] and time.monotonic() < ends:
            self._lag.busy_since = time.monotonic()
        real(self, turns)

    monkeypatch.setattr(Pump, "_relay", relay)
    async with brokers((1,)) as (broker,), living(settings(broker)) as alive:
        await alive.until_state("ready")
        over = True
        await eventually(lambda: alive.process.counters.loop_lag.stalls["tasks"] == 1, "the watchdog", 20)


async def test_a_throttled_client_that_cannot_be_resumed_ends_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are read again in their time."""
    planted = Planted(monkeypatch, Connection, "resume")
    async with stage() as running:
        broken, other = running.relay(), running.relay()
        broken.connection.throttle(0.05)
        other.connection.throttle(0.2)
        planted.armed = True
        await broken.ended(Reason.INTERNAL_ERROR)
        assert planted.failed == 1
        await other.exchange(1)
