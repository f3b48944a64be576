# This module is pure.
"""Pushes with their client's labels: how is found out for one of them, and serves the client's next ones like it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kproxy.telemetry.receivers.labels import known
from kproxy.telemetry.receivers.resource import Joined, addition, joined, with_attributes

if TYPE_CHECKING:
    from kproxy.telemetry.instance import ClientInfo
    from kproxy.telemetry.layout import Words
    from kproxy.telemetry.payload import Push

_REMEMBERED: Final = 16_384
"""As many as there may be instances."""


class Labelling:
    """`constant` attributes go with the client's."""

    def __init__(self, constant: Mapping[str, str]) -> None:
        constants = tuple(constant.items())
        self._addition = lru_cache(_REMEMBERED)(lambda info: addition([*known(info), *constants]))
        self._found = lru_cache(_REMEMBERED)(_found)

    def labelled(self, push: Push) -> bytes:
        """The payload with the client's labels in each resource; ValueError for what is no MetricsData."""
        how = None if push.words is None else self._how(push, push.words)
        return with_attributes(push.payload, self._addition(push.info)) if how is None else how.of(push.payload)

    def _how(self, push: Push, words: Words) -> Joined | None:
        found = self._found(push.info, words)
        if not found:
            found.append(joined(push.payload, self._addition(push.info)))
        return found[0]


def _found(info: ClientInfo, words: Words) -> list[Joined | None]:
    """Room for how these are labelled, or None where they cannot be joined."""
    del info, words
    return []
