"""Make receivers of other packages: find them by their entry points, and check them before they get pushes.

The receivers' factory calls `make` when kproxy starts, for each receiver of a type that is not kproxy's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, Final, cast

from kproxy.telemetry.receivers.interface import ENTRY_POINTS, Factory, Receiver, ReceiverCounters

_CALLED: Final = ("offer", "run", "flush")


def installed() -> list[str]:
    """Return the types of receivers that plug-ins add, sorted."""
    return sorted({each.name for each in entry_points(group=ENTRY_POINTS)})


def make(kind: str, name: str, options: Mapping[str, Any], labels: Mapping[str, str]) -> Receiver:
    """Make a plug-in's receiver. Raise ValueError if the plug-in is missing, does not load, or makes no receiver."""
    found = list(entry_points(group=ENTRY_POINTS, name=kind))
    if not found:
        known = ", ".join(installed()) or "none"
        raise ValueError(
            f"no receiver of type {kind!r}: plug-ins are {known}; install its package where kproxy is installed"
        )
    try:
        factory: Factory = found[0].load()
    except Exception as error:
        raise ValueError(f"the plug-in {found[0].value} does not load: {type(error).__name__}: {error}") from error
    try:
        receiver = factory(name=name, options=options, labels=labels)
    except Exception as error:
        raise ValueError(f"the plug-in {found[0].value} refuses: {type(error).__name__}: {error}") from error
    if missing := _missing(receiver):
        raise ValueError(f"what {found[0].value} makes is no receiver: it lacks {', '.join(missing)}")
    return receiver


def _missing(receiver: object) -> list[str]:
    missing = [each for each in _CALLED if not callable(getattr(receiver, each, None))]
    attributes = cast(Any, receiver)
    if not isinstance(getattr(attributes, "counters", None), ReceiverCounters):
        missing.append("counters (a ReceiverCounters)")
    if not isinstance(getattr(attributes, "content_types", None), frozenset):
        missing.append("content_types (a frozenset)")
    return missing
