# This module is pure (no I/O, no clock).
"""An order: which upstream cluster of a virtual cluster is the active one from now on, for all replicas of kproxy.

Orders have a rank, and the highest one counts, wherever and whenever it is read. So replicas that have read the same
orders agree, in whatever sequence they came, and no clock decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field, TypeAdapter, ValidationError

from kproxy.agreement.failover_record import FailoverRecord

VERSION: Final = 1
_MOST_TEXT: Final = 256
_END_OF_TIME: Final = 253_402_300_800.0
"""The year 10,000 in seconds, which no calendar here can show."""

Text = Annotated[str, Field(max_length=_MOST_TEXT)]


@dataclass(frozen=True, slots=True)
class Order:
    """`cluster` is the virtual cluster, `upstream` is to be active, `stay` is what producer ids count by there.

    `replica` names the process that gave it, by a random text. `cause`: why. `at`: when, in seconds since the Unix
    epoch: it is shown, and an automatic failover keeps its distance from it, also after a restart.
    """

    cluster: Text
    number: Annotated[int, Field(ge=1, lt=1 << 53)]
    upstream: Text
    stay: FailoverRecord
    replica: Text
    cause: Text
    at: Annotated[float, Field(ge=0, lt=_END_OF_TIME)]
    version: int = VERSION

    @property
    def rank(self) -> tuple[int, str]:
        """What is compared: the number, and of two orders that were given at the same moment the replica's name."""
        return self.number, self.replica

    @property
    def key(self) -> str:
        """Its name where it is kept: no two orders have the same, so that compaction drops none of them."""
        return f"{self.key_prefix(self.cluster)}{self.number}/{self.replica}"

    @staticmethod
    def key_prefix(cluster: str) -> str:
        """Return how the keys of a virtual cluster's orders begin, in every version."""
        return f"{cluster}/"


@dataclass(frozen=True, slots=True)
class _Versioned:
    """What an order of any version has."""

    version: int = VERSION


class LaterVersionError(ValueError):
    """An order of a later kproxy: it may count, and must not be replaced as what is no order at all."""


_ORDER: Final = TypeAdapter(Order)
_VERSIONED: Final = TypeAdapter(_Versioned)


def encode_order(order: Order) -> bytes:
    """Return the order as JSON."""
    return _ORDER.dump_json(order)


def decode_order(data: bytes) -> Order:
    """Return the order that is in the JSON; raise ValueError, in one line, for what is none.

    Raises LaterVersionError for an order that a later kproxy gave, whatever else it has.
    """
    try:
        version = _VERSIONED.validate_json(data).version
        if version > VERSION:
            raise LaterVersionError(f"an order of version {version}; this kproxy knows {VERSION}: update it")
        return _ORDER.validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        what = f"{where}: {first['msg']}" if where else first["msg"]
        raise ValueError(f"not an order: {what}") from None
