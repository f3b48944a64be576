# This module is pure (no I/O, no clock).
"""Which configs of brokers name hosts, and what a client gets in place of their values.

`kproxy.relay.apis.configs` calls it for each such value in a DescribeConfigs response.

A broker's listeners become kproxy's address for that broker. What no client can reach through kproxy gets a name that
says what it is and resolves nowhere (RFC 2606); ports of other nodes stay, as in DescribeQuorum. A listener on all
interfaces names no host and stays as it is.

Kafka's brokers show values of configs that they know, also with a listener's prefix (listener.name.LISTENER.CONFIG).
Other configs, such as those of plug-ins, have the value null there. `bootstrap.servers` at the end of a name is for
brokers that do otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

NOWHERE: Final = "masked.invalid"
"""In place of what cannot be read as an address."""
_CONTROLLER_LISTENER: Final = "CONTROLLER"
_LISTENER: Final = re.compile(r"([A-Za-z0-9_.-]+)://(.*):(-?\d+)", re.ASCII)
_VOTER: Final = re.compile(r"(\d+)@.*(:\d+)", re.ASCII)
_SERVER: Final = re.compile(r"[^/]*(:\d+)", re.ASCII)
_ALL_INTERFACES: Final = ("", "0.0.0.0", "[::]")
CONTROLLER_NAMES: Final = "controller.listener.names"
"""The config with the names of the listeners that are controllers'."""


class Shown(NamedTuple):
    """How one broker appears to the client."""

    node_id: int | None
    """None where the configs are not those of one broker."""
    address: tuple[str, int] | None
    """The advertised address; None where kproxy advertises none for it."""
    controllers: Collection[str] = (_CONTROLLER_LISTENER,)
    """The names of its controller listeners."""


def _host(broker: Shown) -> str:
    if broker.address is not None:
        return broker.address[0]
    return NOWHERE if broker.node_id is None else f"broker-{broker.node_id}.invalid"


def _port(port: str, broker: Shown) -> str:
    return port if broker.address is None else str(broker.address[1])


def _listener(element: str, broker: Shown) -> str:
    found = _LISTENER.fullmatch(element)
    if found is None:
        return NOWHERE
    if found[2] in _ALL_INTERFACES:
        return element
    if found[1] in broker.controllers:
        name = "controller" if broker.node_id is None else f"controller-{broker.node_id}"
        return f"{found[1]}://{name}.invalid:{found[3]}"
    host = _host(broker)
    return f"{found[1]}://{f'[{host}]' if ':' in host else host}:{_port(found[3], broker)}"


def _voter(element: str, broker: Shown) -> str:
    del broker
    found = _VOTER.fullmatch(element)
    return NOWHERE if found is None else f"{found[1]}@controller-{found[1]}.invalid{found[2]}"


def _servers(host: str) -> Callable[[str, Shown], str]:
    def server(element: str, broker: Shown) -> str:
        del broker
        found = _SERVER.fullmatch(element.partition("/")[0])
        return NOWHERE if found is None else host + found[1]

    return server


def _each(mask: Callable[[str, Shown], str]) -> Callable[[str, Shown], str]:
    """Return a mask for a list from one for its elements."""
    return lambda value, broker: ",".join(mask(element.strip(), broker) for element in value.split(","))


_Mask = Callable[[str, Shown], str]
_OTHERS: Final = _each(_servers(NOWHERE))
_MASKS: Final[Mapping[str, _Mask]] = MappingProxyType(
    {
        "advertised.listeners": _each(_listener),
        "listeners": _each(_listener),
        "controller.quorum.voters": _each(_voter),
        "controller.quorum.bootstrap.servers": _each(_servers("controller.invalid")),
        "bootstrap.servers": _OTHERS,
        "zookeeper.connect": _each(_servers("zookeeper.invalid")),
        "advertised.host.name": lambda value, broker: _host(broker),
        "host.name": lambda value, broker: _host(broker),
        "advertised.port": _port,
        "port": _port,
    }
)
"""By config: how a value that is neither null nor empty is masked."""
_ENDINGS: Final[Mapping[str, _Mask]] = MappingProxyType(
    {
        ".advertised.listeners": _MASKS["advertised.listeners"],
        ".quorum.voters": _MASKS["controller.quorum.voters"],
        ".bootstrap.servers": _OTHERS,
        ".zookeeper.connect": _MASKS["zookeeper.connect"],
        ".host.name": _MASKS["host.name"],
    }
)
"""By the end of a config's name."""
_PREFIX: Final = re.compile(r"listener\.name\.[^.]*\.(.*)")

NAMES: Final = frozenset(name.encode() for name in (*_MASKS, CONTROLLER_NAMES))
"""The configs to look for in a response."""
ENDINGS: Final = tuple(ending.encode() for ending in (*_ENDINGS, *(f".{name}" for name in ("listeners", "port"))))
"""What else names of such configs end in."""


def masked(config: str, name: str, value: str, broker: Shown) -> str:
    """Return what the client gets in place of a value of `config`, or of its synonym `name`; mostly the same value."""
    mask = _mask(name) or _mask(config)
    return value if mask is None else mask(value, broker)


def is_address(config: str) -> bool:
    """True for a config whose values name hosts."""
    return _mask(config) is not None


def is_masked(value: str, advertised: Collection[str]) -> bool:
    """True when a value names a host that only a mask can have named, or one of these addresses (host:port)."""
    plain = value.replace("[", "").replace("]", "")
    hosts = [element.strip().rpartition("/")[2] for element in plain.split(",")]
    return ".invalid" in value or any(host in advertised for host in hosts)


def _mask(name: str) -> _Mask | None:
    prefixed = _PREFIX.fullmatch(name)
    name = name if prefixed is None else prefixed[1]
    ending = next((ending for ending in _ENDINGS if name.endswith(ending)), None)
    return _MASKS.get(name) or (None if ending is None else _ENDINGS[ending])
