"""kproxy with faults of its own: `python -m tests.attacks.faulty serve ...`. Each place of `PLACES` fails once.

Each fault says on standard error that it was made, as a line `fault made in PLACE`.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

PLACES: Final = {
    "record_end": "kproxy.relay.pump:record_end",
    "ClientEvents.ended": "kproxy.app.client_events:ClientEvents.ended",
    "ClientEvents._look": "kproxy.app.client_events:ClientEvents._look",
    "Lingering.add": "kproxy.relay.lingering_close:LingeringSockets.add",
    "Lingering.sweep": "kproxy.relay.lingering_close:LingeringSockets.sweep",
    "AddressMap.expire": "kproxy.routing.address_map:AddressMap.expire",
    "Failover.observe": "kproxy.topology.failover:Failover.observe",
    "Instances.expired": "kproxy.telemetry.instances:Instances.expired",
    "Context": "kproxy.relay.arrival:Context",
}
"""What the audit made fail (issue 18, row 9), and where it is."""
_QUICK: Final = ("kproxy.telemetry.client_telemetry:EXPIRY_SECONDS",)
"""Waits of seconds between two sweeps, shortened here."""


class PlantedError(Exception):
    """The fault."""


def _found(place: str) -> tuple[Any, str]:
    """Return what has the attribute, and the attribute's name."""
    module, _, path = place.partition(":")
    owner: Any = import_module(module)
    *parents, name = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    return owner, name


def plant(place: str, where: str) -> None:
    """Have the first call of `where` raise; `place` is its name for people."""
    owner, name = _found(where)
    real: Callable[..., Any] = getattr(owner, name)
    made: list[str] = []

    def fails() -> None:
        if not made:
            made.append(place)
            os.write(sys.stderr.fileno(), f"fault made in {place}\n".encode())
            raise PlantedError(place)

    def called(*arguments: Any, **named: Any) -> Any:
        fails()
        return real(*arguments, **named)

    async def awaited(*arguments: Any, **named: Any) -> Any:
        fails()
        return await real(*arguments, **named)

    setattr(owner, name, awaited if inspect.iscoroutinefunction(real) else called)


def main() -> None:
    """Plant all faults, and run kproxy's command."""
    from kproxy.cli import main as kproxy

    for place, where in PLACES.items():
        plant(place, where)
    for where in _QUICK:
        owner, name = _found(where)
        setattr(owner, name, 0.5)
    kproxy()


if __name__ == "__main__":
    main()
