# This module is pure (no I/O, no clock).
"""The types of a metric family: its definition (`Family`) and its Prometheus type (`Kind`).

The modules beside this one make a `Family` for each metric. They are imported at the first scrape of /metrics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

from kproxy.observe import series
from kproxy.observe.counters import Counters


class Kind(StrEnum):
    """The metric types of Prometheus that kproxy uses."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


R = TypeVar("R", bound=series.Rows | series.ProcessRows)


@dataclass(frozen=True, slots=True)
class Family(Generic[R]):
    """A metric family; `rows` yields the values of `labels`, with the number, for each series.

    `of_process` yields those that belong to no virtual cluster: their label `cluster` is empty.
    """

    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str
    rows: R
    of_process: Callable[[Counters], series.Numbers] | None = None


SOFTWARE: Final = ("software_name", "software_version")
"""The labels for the software that a client reports (KIP-511); `kproxy.observe.counters` bounds their values."""
