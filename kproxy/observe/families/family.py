# This module is pure.
"""What a metric family is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

from kproxy.observe import series


class Kind(StrEnum):
    """Prometheus' metric types, as far as they are used."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


R = TypeVar("R", bound=series.Rows | series.ProcessRows)


@dataclass(frozen=True, slots=True)
class Family(Generic[R]):
    """A metric family; `rows` yields the values of `labels`."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str
    rows: R


SOFTWARE: Final = ("software_name", "software_version")
"""Labels: who the client says it is (KIP-511), bounded by `kproxy.observe.counters`."""
