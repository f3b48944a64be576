"""A receiver's queue of pushes."""

from __future__ import annotations

from typing import Final

from kproxy.delivery import queued
from kproxy.telemetry.payload import Push
from kproxy.telemetry.receivers.interface import OTLP

MAX_PUSHES: Final = queued.MAX_ITEMS
MAX_BYTES: Final = queued.MAX_BYTES


class Queued(queued.Queued[Push]):
    """The half of a receiver that all have in common: `offer`, `flush`, counters. `run` is the other half's."""

    content_types = frozenset({OTLP})
