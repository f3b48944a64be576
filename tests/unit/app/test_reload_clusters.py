"""Virtual clusters that come and go with a reload, on real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from kproxy.app.reload import apply
from kproxy.config import Config
from kproxy.config.reload import Changes
from kproxy.errors import ConfigError, KproxyError
from kproxy.local_kafka.ports import free_port
from tests.unit.app.living import HOST, Living, brokers, living, once, settings
from tests.unit.relay.sockets import eventually, open_files
from tests.unit.upstream.scripted_broker import ScriptedBroker


class Growing:
    """A process with one virtual cluster, c0, and a broker that a second one may have."""

    def __init__(self, alive: Living, broker: ScriptedBroker) -> None:
        self.alive = alive
        self.broker = broker

    def more(self, *, name: str = "b", port: int = 0, **others: Any) -> Config:
        """Return the configuration with another virtual cluster."""
        extra = {
            "name": name,
            "bootstrap_servers": f"{HOST}:{self.broker.port}",
            "listen": f"{HOST}:{port}",
            "nodes": {"first_port": 0},
        }
        kept = self.alive.config.model_dump()
        return Config.model_validate(kept | {"clusters": [*kept["clusters"], extra]} | others)

    async def apply(self, config: Config) -> Changes:
        return await apply(self.alive.process, config)

    def names(self) -> list[str]:
        return [cluster.settings.name for cluster in self.alive.process.clusters]

    async def gone(self, name: str = "b") -> None:
        """Wait until nothing is left of a virtual cluster."""
        await eventually(lambda: name not in self.alive.process.counters.clusters, f"{name} is gone")


@asynccontextmanager
async def growing(**others: Any) -> AsyncIterator[Growing]:
    async with brokers((1,), (1,)) as (a, b), living(settings(a, drain={"deadline": 2}, **others)) as alive:
        await alive.until_state("ready")
        yield Growing(alive, b)


async def test_one_is_added_used_and_removed() -> None:
    """It serves once the reload says so; removed, its port and series are gone, and the other one's client stays."""
    async with growing() as world:
        alive, port = world.alive, free_port()
        steady = await alive.client()
        await steady.introduce("steady", "1")
        await eventually(lambda: len(alive.process.relay) == 1, "one client")
        before = open_files()
        for turn in range(1, 4):
            changed = await world.apply(world.more(port=port))
            assert changed == Changes(added=("b",))
            assert world.names() == ["c0", "b"]
            client = await alive.client(port)
            await client.introduce("passing", "1")
            assert 'cluster="b"' in await alive.text("/metrics")
            await alive.until_state("ready")
            assert await world.apply(alive.config) == Changes(removed=("b",))
            assert await client.receive_all() == b""
            await client.close()
            await world.gone()
            assert 'cluster="b"' not in await alive.text("/metrics")
            with pytest.raises(OSError, match="connect"):
                await alive.client(port)
            await steady.send_metadata(turn)
            assert list(await steady.nodes(turn)) == [1]
            await eventually(lambda: open_files() <= before, "descriptors are closed")
        assert world.names() == ["c0"]


async def test_a_port_that_is_taken() -> None:
    """Nothing changes at all, not even what could, and the reason is said."""
    async with growing() as world:
        taken = world.alive.admin
        reason = f"clusters.1.listen: cannot listen on {HOST}:{taken}: address already in use"
        config = world.more(admin=f"{HOST}:{free_port()}", port=taken, topology={"grace": 1})
        with pytest.raises(ConfigError, match=reason):
            await world.apply(config.model_copy(update={"admin": world.alive.config.admin}))
        assert (world.names(), world.alive.process.config) == (["c0"], world.alive.config)
        assert list(world.alive.process.counters.clusters) == ["c0"]


async def test_what_fails_after_one_was_started() -> None:
    """The new one is ended again, and its port is free."""
    async with growing() as world:
        port, before = free_port(), open_files()
        config = world.more(port=port)
        elsewhere = config.clusters[0].model_dump() | {"bootstrap_servers": f"{HOST}:{free_port()}"}
        broken = Config.model_validate(config.model_dump() | {"clusters": [elsewhere, config.clusters[1].model_dump()]})
        with pytest.raises(KproxyError):
            await world.apply(broken)
        await eventually(lambda: open_files() <= before, "descriptors are closed")
        assert world.names() == ["c0"]
        await world.apply(config)
        assert world.names() == ["c0", "b"]


async def test_what_was_received_is_answered() -> None:
    """A request in flight is answered by the removed one; then its client is closed. The name is free after that."""
    async with growing() as world:
        port, answers = free_port(), trio.Event()
        await world.apply(world.more(port=port))
        client = await world.alive.client(port)
        await client.introduce("waiting", "1")
        world.broker.script[3] = once(answers)
        await client.send_metadata(2)
        pump = world.alive.process.relay.pump
        await eventually(lambda: [len(one.in_flight) for one in pump.connections.values()] == [1], "in flight")
        await world.apply(world.alive.config)
        with pytest.raises(OSError, match="connect"):
            await world.alive.client(port)
        answers.set()
        assert list(await client.nodes(2)) == [1]
        assert await client.receive_all() == b""
        await world.apply(world.more(port=port))  # waits until the one before is gone
        assert world.names() == ["c0", "b"]


async def test_one_with_everything(tmp_path: Path) -> None:
    """Its groups, telemetry and events begin and end with it; one of the same name waits until it is gone."""
    files = {"type": "files", "name": "e", "directory": str(tmp_path)}
    async with growing(events={"destinations": [files]}) as world:
        config = world.more(port=(port := free_port()))
        full = {"groups": [{"match": ".*"}], "telemetry": {"interval": "1s"}}
        last = config.clusters[1].model_dump() | full
        config = Config.model_validate(config.model_dump() | {"clusters": [config.clusters[0].model_dump(), last]})
        for _ in range(2):
            assert await world.apply(config) == Changes(added=("b",))
            client = await world.alive.client(port)
            await client.introduce("passing", "1")
            assert await world.apply(world.alive.config) == Changes(removed=("b",))
        await world.gone()


async def test_before_the_first_ones_run() -> None:
    """None comes or goes while kproxy starts: there is nothing to start it with yet."""
    async with growing() as world:
        world.alive.process.launcher = None
        with pytest.raises(KproxyError, match="kproxy starts or ends at the moment"):
            await world.apply(world.more())
