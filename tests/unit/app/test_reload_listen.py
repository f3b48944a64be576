"""Virtual clusters that listen elsewhere after a reload, on real sockets."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from kproxy.app.reload import apply
from kproxy.cluster.doors import PortDoors
from kproxy.config import Config
from kproxy.config.reload import Changes
from kproxy.errors import ConfigError, KproxyError
from kproxy.local_kafka.ports import free_port, free_ports
from kproxy.routing.binding import listen
from tests.unit.app.living import HOST, Client, Living, brokers, living, named_itself
from tests.unit.relay.sockets import eventually, open_files
from tests.unit.upstream.scripted_broker import ScriptedBroker


class Moving:
    """A process whose virtual cluster c0 has nodes 1 and 2 at one broker; c1 is at another broker."""

    def __init__(self, alive: Living, broker: ScriptedBroker) -> None:
        self.alive = alive
        self.broker = broker
        self.cluster = alive.process.clusters[0]

    def config(self, listen: str | int, index: int = 0, *, others: Any = None, **changes: Any) -> Config:
        """Return the present configuration with another `listen` of one virtual cluster."""
        written = self.alive.process.config.model_dump(mode="json", exclude_unset=True)
        written["clusters"][index] |= {"listen": listen if isinstance(listen, str) else f"{HOST}:{listen}"} | changes
        return Config.model_validate(written | (others or {}))

    async def apply(self, config: Config) -> Changes:
        return await apply(self.alive.process, config)

    def places(self) -> dict[int, int]:
        """Return the ports of the nodes."""
        return {node_id: int(node.place) for node_id, node in self.cluster.nodes.addresses.nodes.items()}

    def advertised(self, ports: range) -> dict[int, tuple[str, int]]:
        """Return the addresses that clients must get; check that the nodes have these ports, whichever has which."""
        assert sorted(self.places().values()) == list(ports)
        return {node_id: (HOST, port) for node_id, port in self.places().items()}

    async def steady(self) -> Client:
        """Return a client that is connected at the present bootstrap port, and has the nodes' addresses."""
        client = await self.alive.client()
        await client.introduce("steady", "1")
        await self.nodes(client)
        return client

    async def nodes(self, client: Client) -> dict[int, tuple[str, int]]:
        """Return the addresses that a client gets on its connection now."""
        await client.send_metadata(7)
        return await client.nodes(7)

    async def refuses(self, port: int) -> None:
        """Wait until nobody listens at a port."""

        def is_free() -> bool:
            try:
                listen(HOST, port)[0].close()
            except OSError:
                return False
            return True

        await eventually(is_free, f"port {port} is free")


@asynccontextmanager
async def moving(listen: int, *, nodes: dict[str, Any] | None = None, **others: Any) -> AsyncIterator[Moving]:
    async with brokers((1, 2), (5,)) as (a, b):
        clusters = [
            {"name": "c0", "bootstrap_servers": f"{HOST}:{a.port}", "listen": f"{HOST}:{listen}", "nodes": nodes or {}},
            {"name": "c1", "bootstrap_servers": f"{HOST}:{b.port}", "listen": f"{HOST}:0", "nodes": {"first_port": 0}},
        ]
        topology = {"interval": "100ms", "epoch_floor": "100ms"}
        settings = {"clusters": clusters, "admin": f"{HOST}:{free_port()}", "topology": topology} | others
        async with living(Config.model_validate(settings)) as alive:
            await alive.until_state("ready")
            yield Moving(alive, b)


def inode(port: int) -> str:
    """Return the number of the socket that listens at a port."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    (found,) = [line[9] for line in lines if line[1].endswith(f":{port:04X}") and line[3] == "0A"]
    return found


async def test_bootstrap_and_nodes_move() -> None:
    """The new ports serve when the reload is over and the old ones close; a connection stays, and learns the new ones.

    No epoch begins: nobody is sent to a bootstrap address that may be gone.
    """
    old, new = free_ports(3), free_ports(3)
    async with moving(old[0]) as world:
        client = await world.steady()
        assert sorted(world.places().values()) == [old[1], old[2]]
        connections, epoch = list(world.alive.process.relay.pump.connections), world.cluster.epoch
        assert await world.apply(world.config(new[0])) == Changes(clusters={"c0": frozenset({"listen"})})
        for port in new:
            assert await world.nodes(await world.alive.client(port)) == world.advertised(new[1:])
        for port in old:
            await world.refuses(port)
        assert await world.nodes(client) == world.advertised(new[1:])
        assert list(world.alive.process.relay.pump.connections)[: len(connections)] == connections
        assert world.cluster.epoch == epoch
        shown = (await world.alive.get("/api/v1/clusters"))["clusters"][0]
        assert (shown["listen"], shown["retired"]) == (f"{HOST}:{new[0]}", [])


async def test_nodes_whose_ports_do_not_change_keep_their_sockets() -> None:
    """Only the bootstrap port moves; a client that waits to be accepted at a node's port is served."""
    ports, new = free_ports(3), free_port()
    async with moving(ports[0], nodes={"first_port": ports[1]}) as world:
        before = [inode(port) for port in ports[1:]]
        waiting = socket.create_connection((HOST, ports[1]), timeout=5)
        await world.apply(world.config(new))
        assert [inode(port) for port in ports[1:]] == before
        await world.refuses(ports[0])
        made = Client.__new__(Client)
        waiting.setblocking(False)
        made.stream = trio.SocketStream(trio.socket.from_stdlib_socket(waiting))
        assert await world.nodes(made) == world.advertised(ports[1:])
        await made.close()


async def test_there_and_back() -> None:
    """Nothing is left of any move."""
    old, new = free_ports(3), free_ports(3)
    async with moving(old[0]) as world:
        first = world.alive.config
        client = await world.steady()
        await eventually(lambda: len(world.alive.process.relay) == 1, "one client")
        before = open_files()
        for turn in range(6):
            await world.apply(first if turn % 2 else world.config(new[0]))
            assert list(await world.nodes(client)) == [1, 2]
            await eventually(lambda: open_files() == before, "descriptors are closed")
        assert sorted(world.places().values()) == [old[1], old[2]]
        doors = world.cluster.listeners._doors
        assert isinstance(doors, PortDoors)
        assert doors.before is None


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("strategy", [{"strategy": "offset", "ranges": "1-2"}, {"strategy": "automatic"}])
async def test_a_step_to_a_port_that_it_has_itself(step: int, strategy: dict[str, str]) -> None:
    """The bootstrap port was a node's, or becomes one: kproxy has it already, and it is taken by nobody else."""
    ports = free_ports(6)
    async with moving(ports[2], nodes=strategy) as world:
        assert sorted(world.places().values()) == [ports[3], ports[4]]
        client = await world.steady()
        await world.apply(world.config(ports[2 + step]))
        expected = world.advertised(ports[3 + step : 5 + step])
        for port in ports[2 + step : 5 + step]:
            assert await world.nodes(await world.alive.client(port)) == expected
        await world.refuses(ports[2 if step > 0 else 4])
        assert await world.nodes(client) == expected


async def test_a_bootstrap_port_that_is_taken() -> None:
    """Nothing changes at all, not even what could; the reason names setting and address."""
    ports = free_ports(3)
    async with moving(ports[0]) as world:
        taken, before = free_port(), open_files()
        config = world.config(taken, others={"limits": {"max_connections": 7}}, max_connections=5)
        with socket.create_server((HOST, taken)), pytest.raises(ConfigError) as caught:
            await world.apply(config)
        assert str(caught.value) == f"clusters.0.listen: cannot listen on {HOST}:{taken}: address already in use"
        assert world.alive.process.config is world.alive.config
        assert (world.cluster.settings.max_connections, world.cluster.listeners.listen) == (None, (HOST, ports[0]))
        assert await world.nodes(await world.steady()) == world.advertised(ports[1:])
        await world.alive.close()
        await eventually(lambda: open_files() <= before, "descriptors are closed")


@pytest.mark.parametrize("ranges", [None, "1-9"])
async def test_a_nodes_port_that_is_taken(ranges: str | None) -> None:
    """Nothing changes, and the reason names the node and the port: also of a node that only the settings name."""
    old, new = free_ports(10), free_ports(10)
    offset = {"strategy": "offset"} | ({"ranges": ranges, "first_port": old[1]} if ranges else {"first_port": old[0]})
    node = 9 if ranges else 2
    async with moving(free_port(), nodes=offset) as world:
        there = offset | {"first_port": new[1] if ranges else new[0]}
        places, before, listens = world.places(), open_files(), world.cluster.listeners.listen
        taken = new[9] if ranges else new[2]
        with socket.create_server((HOST, taken)):
            reason = rf"clusters\.c0: main: port {taken} of node {node} is taken by another process"
            with pytest.raises(KproxyError, match=reason):
                await world.apply(world.config(free_port(), nodes=there))
        assert (world.places(), world.cluster.listeners.listen) == (places, listens)
        assert list(await world.nodes(await world.steady())) == [1, 2]
        await world.alive.close()
        await eventually(lambda: open_files() <= before, "descriptors are closed")
        epoch = world.cluster.epoch
        await world.apply(world.config(free_port(), nodes=there))
        assert world.places()[node] == taken
        assert world.cluster.epoch == epoch


async def test_ranges_that_grow() -> None:
    """The nodes that only the new settings name have their ports as well, as at a start."""
    old, new = free_ports(3), free_ports(5)
    offset = {"strategy": "offset"}
    async with moving(old[0], nodes=offset | {"ranges": "1-2"}) as world:
        await world.apply(world.config(new[0], nodes=offset | {"ranges": "1-4"}))
        assert world.places() == {1: new[1], 2: new[2], 3: new[3], 4: new[4]}
        await world.alive.client(new[4])


async def test_two_move_or_none() -> None:
    """Where the second one's port is taken, the first one stays as well."""
    ports, new = free_ports(3), free_ports(5)
    async with moving(ports[0]) as world:
        both = world.config(new[0]).model_dump(mode="json", exclude_unset=True)
        both["clusters"][1]["listen"] = f"{HOST}:{new[4]}"
        reason = r"clusters\.1\.listen: cannot listen on "
        with socket.create_server((HOST, new[4])), pytest.raises(ConfigError, match=reason):
            await world.apply(Config.model_validate(both))
        for port in new:
            await world.refuses(port)
        assert world.alive.port() == ports[0]
        await world.apply(Config.model_validate(both))
        assert [world.alive.port(index) for index in range(2)] == [new[0], new[4]]


async def test_another_host() -> None:
    """All ports move to it, also those of the same number; where the old host is a part of the new one, it is taken."""
    ports = free_ports(3)
    async with moving(ports[0]) as world:
        client = await world.steady()
        with pytest.raises(ConfigError, match=rf"cannot listen on 0\.0\.0\.0:{ports[0]}: address already in use"):
            await world.apply(world.config(f"0.0.0.0:{ports[0]}"))
        await world.apply(world.config(f"127.0.0.2:{ports[0]}"))
        assert sorted(world.places().values()) == [ports[1], ports[2]]
        for port in ports:
            with socket.create_connection(("127.0.0.2", port), timeout=5):
                await world.refuses(port)
        assert await world.nodes(client) == world.advertised(ports[1:])


async def test_any_free_port() -> None:
    """Port 0 is any; nodes begin behind the one that it becomes."""
    async with moving(free_ports(3)[0]) as world:
        await world.apply(world.config(0))
        port = world.alive.port()
        assert min(world.places().values()) > port
        assert list(await world.nodes(await world.alive.client(port))) == [1, 2]


async def test_with_another_upstream() -> None:
    """The nodes of the cluster that becomes active have ports there; it is a switch as ever, with a new epoch."""
    new = free_ports(3)
    async with moving(free_ports(3)[0]) as world:
        named_itself(world.broker, 5, 6)
        await eventually(lambda: set(world.alive.process.clusters[1].nodes.named) == {5, 6}, "both nodes are seen")
        epoch = world.cluster.epoch
        await world.apply(world.config(new[0], bootstrap_servers=f"{HOST}:{world.broker.port}"))
        fresh = await world.alive.client(new[0])
        assert list(await world.nodes(fresh)) == [5, 6]
        assert world.cluster.epoch == epoch + 1


async def test_a_node_comes_later() -> None:
    """It gets its port where the virtual cluster is now."""
    new = free_ports(5)
    async with moving(free_ports(4)[0], nodes={"strategy": "offset"}) as world:
        await world.apply(world.config(new[0]))
        assert world.places() == {1: new[2], 2: new[3]}
        upstream = world.cluster.nodes.addresses.upstream(1)
        assert upstream is not None
        host, port = world.cluster.nodes.advertise(3, *upstream, HOST)
        assert (host, port) == (HOST, new[4])
        assert list(await world.nodes(await world.alive.client(port))) == [1, 2]


async def test_while_it_starts_or_ends() -> None:
    """Nobody moves then."""
    async with moving(free_ports(3)[0]) as world:
        world.alive.process.draining = True
        with pytest.raises(KproxyError, match="kproxy starts or ends at the moment"):
            await world.apply(world.config(free_port()))
        world.alive.process.draining = False


async def test_removed_after_a_move() -> None:
    """It listens no more where it has moved to."""
    new = free_ports(3)
    async with moving(free_ports(3)[0], drain={"deadline": 1}) as world:
        await world.apply(world.config(new[0]))
        present = world.alive.process.config
        await world.apply(present.model_copy(update={"clusters": present.clusters[1:]}))
        for port in new:
            await world.refuses(port)
