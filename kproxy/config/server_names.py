# This module is pure (no I/O, no clock).
"""The names by which clients ask for a virtual cluster and its nodes (SNI), where several share one port.

The settings of nodes are checked with it whenever a configuration is loaded. kproxy.routing finds the node of a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kproxy.config.units import INT32_MAX

PLACEHOLDER: Final = "$(node_id)"
_ID: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_DIGITS: Final = re.compile(r"[0-9]*")


def canonical(name: str) -> str:
    """Return the form in which names are compared: lower case, without the final dot that makes one absolute in DNS."""
    return name.removesuffix(".").lower()


@dataclass(frozen=True, slots=True)
class NamePattern:
    """The names of nodes: what stands before and behind the node's id, in canonical form."""

    before: str
    behind: str

    @classmethod
    def parse(cls, text: str) -> NamePattern:
        """Return the pattern of a text that has `$(node_id)` once."""
        before, _, behind = canonical(text).partition(PLACEHOLDER)
        return cls(before, behind)

    def name(self, node_id: int | str) -> str:
        """Return the name of a node."""
        return f"{self.before}{node_id}{self.behind}"

    def node_id(self, name: str) -> int | None:
        """Return the node that has a canonical name; None when the pattern gives it to none."""
        if len(name) <= len(self.before) + len(self.behind):
            return None
        if not (name.startswith(self.before) and name.endswith(self.behind)):
            return None
        text = name[len(self.before) : len(name) - len(self.behind)]
        return int(text) if _ID.fullmatch(text) and int(text) <= INT32_MAX else None

    def shared_with(self, other: NamePattern) -> str | None:
        """Return a name that both patterns give to a node, each to one of its own; None when there is none."""
        candidates = [*self._candidates(other), *other._candidates(self)]
        both = (name for name in candidates if self.node_id(name) is not None and other.node_id(name) is not None)
        return next(both, None)

    def _candidates(self, other: NamePattern) -> Iterator[str]:
        """Yield names of this pattern, one of which is the other's if any is, where the other's begins no earlier.

        The digits with which the other pattern goes on must be those of the id, as far as the id reaches.
        """
        found = _DIGITS.match(other.before.removeprefix(self.before))
        digits = found[0] if found is not None and other.before.startswith(self.before) else ""
        for length in range(1, len(digits) + 1):
            yield self.name(digits[:length])
        yield from (self.name(f"{digits}{more}") for more in ("0", "1"))


@dataclass(frozen=True, slots=True)
class ServerNames:
    """The names of a virtual cluster at a port that it shares: the one at which clients bootstrap, and its nodes'."""

    bootstrap: str
    nodes: NamePattern
