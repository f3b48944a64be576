"""A process whose virtual clusters share one port by name: who gets where, through topologies, reloads and a drain."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import trio

from kproxy.app.reload import apply
from kproxy.config import Config
from kproxy.errors import KproxyError
from kproxy.local_kafka.ports import free_port
from kproxy.observe.reasons import Reason
from tests.support.authority import Authority, Certificate
from tests.unit.app.living import HOST, Client, Living, brokers, living, named_itself
from tests.unit.relay.sockets import eventually
from tests.unit.upstream.scripted_broker import ScriptedBroker

NAMES = ("orders", "bills")


class World:
    """An authority with a wildcard certificate for each virtual cluster, and a client's view of one process."""

    def __init__(self, authority: Authority) -> None:
        self.authority = authority
        self.trust = ssl.create_default_context(cafile=str(authority.file))
        self.own = {
            name: authority.signed(name, f"DNS:{name}.example.com", f"DNS:*.{name}.example.com") for name in NAMES
        }

    def cluster(self, name: str, broker: ScriptedBroker, listen: int, **changes: Any) -> dict[str, Any]:
        """Return a virtual cluster's settings."""
        return {
            "name": name,
            "bootstrap_servers": f"{HOST}:{broker.port}",
            "listen": f"{HOST}:{listen}",
            "advertised_host": f"{name}.example.com",
            "tls": files(self.own[name]),
            "nodes": {"strategy": "sni", "pattern": f"b$(node_id).{name}.example.com"},
        } | changes

    async def client(self, port: int, name: str) -> Client:
        """Connect by a name, whose certificate is checked; raises OSError or BrokenResourceError when refused."""
        plain = await trio.open_tcp_stream(HOST, port)
        stream = trio.SSLStream(plain, self.trust, server_hostname=name, https_compatible=True)
        try:
            await stream.do_handshake()
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        made = Client.__new__(Client)
        made.stream = stream  # type: ignore[assignment]
        return made

    async def nodes(self, port: int, name: str) -> dict[int, tuple[str, int]]:
        """Return the addresses that a client gets which bootstraps by a name."""
        client = await self.client(port, name)
        await client.send_metadata(1)
        found = await client.nodes(1)
        await client.close()
        return found

    async def refused(self, port: int, name: str) -> str:
        """Return why a client is refused, as it sees it."""
        with pytest.raises(trio.BrokenResourceError) as caught:
            await self.client(port, name)
        return str(caught.value.__cause__)


def files(certificate: Certificate) -> dict[str, str]:
    return {"certificate": str(certificate.chain), "key": str(certificate.key)}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(Authority(tmp_path_factory.mktemp("names")))


@asynccontextmanager
async def sharing(world: World, **others: Any) -> AsyncIterator[tuple[Living, dict[str, ScriptedBroker]]]:
    """A process with two virtual clusters at one port: node 7 in both."""
    async with brokers((7,), (7,)) as made:
        served, listen = dict(zip(NAMES, made, strict=True)), free_port()
        config = Config.model_validate(
            {
                "clusters": [world.cluster(name, broker, listen) for name, broker in served.items()],
                "admin": f"{HOST}:{free_port()}",
                "topology": {"interval": "100ms", "epoch_floor": "100ms"},
            }
            | others
        )
        async with living(config) as alive:
            await alive.until_state("ready")
            yield alive, served


def changed(config: Config, index: int, **changes: Any) -> Config:
    """Return the configuration with other settings of one virtual cluster."""
    written = config.model_dump(mode="json", exclude_unset=True)
    written["clusters"][index] |= changes
    return Config.model_validate(written)


def pattern(text: str) -> dict[str, str]:
    return {"strategy": "sni", "pattern": text}


async def test_each_name_leads_to_its_virtual_cluster(world: World) -> None:
    """With the certificate of that one; nodes are advertised by name at the same port, and shown so."""
    async with sharing(world) as (alive, _):
        port = alive.port()
        assert alive.port(1) == port
        for name in NAMES:
            assert await world.nodes(port, f"{name.title()}.Example.com") == {7: (f"b7.{name}.example.com", port)}
            assert await world.nodes(port, f"b7.{name}.example.com") == {7: (f"b7.{name}.example.com", port)}
        shown = (await alive.get("/api/v1/clusters"))["clusters"]
        assert [each["nodes"][0]["advertised"] for each in shown] == [f"b7.{name}.example.com:{port}" for name in NAMES]
        assert [each["listen"] for each in shown] == [f"{HOST}:{port}"] * 2


async def test_names_of_nobody_and_of_nodes_that_are_not_there(world: World) -> None:
    """A stranger's name gets the alert; a name that a node could have is refused as a port is that is not open."""
    async with sharing(world) as (alive, _):
        orders, bills = (cluster.counters for cluster in alive.process.clusters)
        assert "UNRECOGNIZED_NAME" in await world.refused(alive.port(), "nobody.example.com")
        assert "UNRECOGNIZED_NAME" not in await world.refused(alive.port(), "b9.bills.example.com")
        assert orders.closed == {Reason.UNKNOWN_SERVER_NAME: 1}
        assert bills.closed == {Reason.UNKNOWN_SERVER_NAME: 1}


async def test_a_node_that_comes_and_goes(world: World) -> None:
    """It has its name as soon as it is seen, keeps it through the grace, and is refused after that."""
    topology = {"interval": "100ms", "grace": "1s"}
    async with sharing(world, topology=topology) as (alive, served):
        port, broker = alive.port(), served["orders"]
        named_itself(broker, 7, 9)
        named = {7: ("b7.orders.example.com", port), 9: ("b9.orders.example.com", port)}
        assert await world.nodes(port, "orders.example.com") == named
        cluster = alive.process.clusters[0]
        seen = cluster.upstreams.watcher
        await eventually(lambda: seen.snapshot is not None and 9 in seen.snapshot.nodes, "the watcher sees it")
        named_itself(broker, 7)
        await eventually(lambda: 9 not in seen.snapshot.nodes if seen.snapshot else False, "the watcher misses it")
        assert await world.nodes(port, "b9.orders.example.com") == {7: ("b7.orders.example.com", port)}
        await eventually(lambda: 9 not in cluster.nodes.addresses.nodes, "its grace is over")
        assert "UNRECOGNIZED_NAME" not in await world.refused(port, "b9.orders.example.com")


async def test_another_pattern_by_a_reload(world: World) -> None:
    """Clients get the new names, and reach nodes by both until the grace is over; the API shows the retired ones."""
    async with sharing(world) as (alive, _):
        port = alive.port()
        assert await world.nodes(port, "orders.example.com") == {7: ("b7.orders.example.com", port)}
        await apply(alive.process, changed(alive.config, 0, nodes=pattern("node-$(node_id).orders.example.com")))
        for name in ("orders.example.com", "node-7.orders.example.com", "b7.orders.example.com"):
            assert await world.nodes(port, name) == {7: ("node-7.orders.example.com", port)}
        (retired,) = (await alive.get("/api/v1/clusters/orders"))["retired"]
        assert (retired["node_id"], retired["port"], retired["name"]) == (7, port, "b7.orders.example.com")


async def test_the_advertised_port_by_a_reload(world: World) -> None:
    """Where the port is mapped on the way to clients."""
    async with sharing(world) as (alive, _):
        nodes = pattern("b$(node_id).orders.example.com") | {"advertised_port": 443}
        await apply(alive.process, changed(alive.config, 0, nodes=nodes))
        assert await world.nodes(alive.port(), "orders.example.com") == {7: ("b7.orders.example.com", 443)}


async def test_names_that_change_places_by_a_reload(world: World) -> None:
    """Each leads to its present owner at once, though the one before still has it for its grace."""
    async with sharing(world) as (alive, _):
        written = alive.config.model_dump(mode="json", exclude_unset=True)
        for settings, other in zip(written["clusters"], reversed(NAMES), strict=True):
            settings |= {"nodes": pattern(f"b$(node_id).{other}.example.com"), "tls": files(world.own[other])}
        await apply(alive.process, Config.model_validate(written))
        for cluster, name in zip(alive.process.clusters, reversed(NAMES), strict=True):
            before, node = cluster.counters.connections_opened, f"b7.{name}.example.com"
            assert await world.nodes(alive.port(), node) == {7: (node, alive.port())}
            assert cluster.counters.connections_opened == before + 1
            assert [one.place for one in cluster.nodes.addresses.retired] == [f"b7.{cluster.settings.name}.example.com"]


async def test_the_bootstrap_name_takes_a_restart(world: World) -> None:
    """How clients bootstrap stays; nothing else changes either."""
    async with sharing(world) as (alive, _):
        with pytest.raises(KproxyError, match=r"clusters\.orders\.advertised_host: cannot change while kproxy runs"):
            await apply(alive.process, changed(alive.config, 0, advertised_host="a.orders.example.com"))


async def test_the_one_that_opened_the_port_is_removed(world: World) -> None:
    """The other goes on at the same port, and the removed one's names are nobody's; the last one frees the port."""
    async with sharing(world, drain={"deadline": 1}) as (alive, _):
        port, process = alive.port(), alive.process
        steady = await world.client(port, "bills.example.com")
        await steady.send_metadata(1)
        await steady.nodes(1)
        both, other = alive.config, alive.config.model_copy(update={"clusters": alive.config.clusters[1:]})
        assert (await apply(process, other)).removed == ("orders",)
        assert "UNRECOGNIZED" in (await world.refused(port, "orders.example.com")).upper()
        assert await world.nodes(port, "bills.example.com")
        await steady.send_metadata(2)
        await steady.nodes(2)
        assert (await apply(process, both)).added == ("orders",)
        assert await world.nodes(port, "orders.example.com")
        await steady.close()


def at(port: int) -> dict[str, str]:
    return {"listen": f"{HOST}:{port}"}


@pytest.mark.parametrize("moved", [0, 1], ids=["the one that opened the port", "the other"])
async def test_one_moves_away(world: World, moved: int) -> None:
    """The other one's clients notice nothing; the names of the one that moved lead to it at its new port alone.

    Its connections stay, and its nodes are advertised at the new port. Both move on to a third port, and back.
    """
    async with sharing(world) as (alive, _):
        port, new, third, process = alive.port(), free_port(), free_port(), alive.process
        names = {index: (f"{name}.example.com", f"b7.{name}.example.com") for index, name in enumerate(NAMES)}
        steady = {index: await world.client(port, bootstrap) for index, (bootstrap, _) in names.items()}
        both, stays = alive.config, 1 - moved
        await apply(process, changed(both, moved, **at(new)))
        for name in names[stays]:
            assert await world.nodes(port, name) == {7: (names[stays][1], port)}
            assert "UNRECOGNIZED" in (await world.refused(new, name)).upper()
        for name in names[moved]:
            assert await world.nodes(new, name) == {7: (names[moved][1], new)}
            assert "UNRECOGNIZED" in (await world.refused(port, name)).upper()
        for index, client in steady.items():
            await client.send_metadata(2)
            assert await client.nodes(2) == {7: (names[index][1], new if index == moved else port)}
        shown = (await alive.get("/api/v1/clusters"))["clusters"]
        assert shown[moved]["listen"] == f"{HOST}:{new}"
        await apply(process, changed(changed(both, 0, **at(third)), 1, **at(third)))
        for index, (bootstrap, node) in names.items():
            assert await world.nodes(third, bootstrap) == {7: (node, third)}
            assert alive.port(index) == third
        for left in (port, new):
            with pytest.raises(OSError, match="connect"):
                await world.client(left, names[0][0])
        await apply(process, both)
        for index, (bootstrap, node) in names.items():
            assert await world.nodes(port, bootstrap) == {7: (node, port)}
            await steady[index].close()


async def test_one_that_moves_in_with_another(world: World) -> None:
    """At a port that another one has opened, each name leads to its own; when all have left, the port closes."""
    async with sharing(world) as (alive, _):
        port, new, process = alive.port(), free_port(), alive.process
        apart = changed(alive.config, 1, **at(new))
        await apply(process, apart)
        await apply(process, changed(apart, 0, **at(new)))
        for name in NAMES:
            assert await world.nodes(new, f"{name}.example.com") == {7: (f"b7.{name}.example.com", new)}
        with pytest.raises(OSError, match="connect"):
            await world.client(port, "orders.example.com")


async def test_a_move_to_a_port_that_is_taken(world: World) -> None:
    """Nothing changes: neither of the one whose port is taken, nor of one that could have moved."""
    async with sharing(world) as (alive, _):
        port, free, taken = alive.port(), free_port(), free_port()
        config = changed(changed(alive.config, 0, **at(free)), 1, **at(taken))
        with (
            socket.create_server((HOST, taken)),
            pytest.raises(KproxyError, match=rf"clusters\.1\.listen: .*:{taken}: "),
        ):
            await apply(alive.process, config)
        for name in NAMES:
            assert await world.nodes(port, f"{name}.example.com") == {7: (f"b7.{name}.example.com", port)}
        with pytest.raises(OSError, match="connect"):
            await world.client(free, "orders.example.com")
        assert [alive.port(index) for index in range(2)] == [port] * 2
        assert not any(alive.process.counters.troubles.errors.values())


async def test_another_certificate_by_a_reload(world: World) -> None:
    """New connections by the names of one virtual cluster are shown it, and those of the other are not."""
    async with sharing(world) as (alive, _):
        renewed = world.authority.signed("renewed", "DNS:orders.example.com", "DNS:*.orders.example.com")
        await apply(alive.process, changed(alive.config, 0, tls=files(renewed)))
        shown = {}
        for name in NAMES:
            client = await world.client(alive.port(), f"{name}.example.com")
            shown[name] = dict(part[0] for part in client.stream.getpeercert()["subject"])["commonName"]  # type: ignore[attr-defined]
            await client.close()
        assert shown == {"orders": "renewed", "bills": "bills"}


async def test_a_drain_with_names(world: World) -> None:
    """No client bootstraps any more, nor gets an alert that would end it; nodes' names send clients to siblings."""
    async with sharing(world, drain={"rebootstrap": True, "deadline": 5}) as (alive, _):
        port = alive.port()
        held = await world.client(port, "b7.orders.example.com")
        await held.introduce("apache-kafka-java", "4.3.1")
        alive.signal()
        await eventually(lambda: all(cluster.listeners.closing for cluster in alive.process.clusters), "it drains")
        assert "UNRECOGNIZED_NAME" not in await world.refused(port, "orders.example.com")
        assert alive.process.clusters[0].counters.closed[Reason.DRAINED] == 1
        retired = alive.process.clusters[0].listeners.counts_as_retired
        assert (retired(7, None), retired(None, None)) == (True, False)
        await held.close()


async def test_who_comes_in_while_its_virtual_cluster_is_removed(world: World) -> None:
    """A client that has shaken hands, and asks for nothing before, is let in nowhere."""
    async with sharing(world) as (alive, _):
        late = await world.client(alive.port(), "bills.example.com")
        written = alive.config.model_dump(mode="json", exclude_unset=True)
        del written["clusters"][1]
        await apply(alive.process, Config.model_validate(written))
        await eventually(lambda: "bills" not in alive.process.counters.clusters, "it is removed")
        await late.send_metadata(1)
        with suppress(trio.BrokenResourceError):  # its request was not read
            assert await late.receive_all() == b""
        assert not alive.process.relay.pump.connections
        await late.close()
