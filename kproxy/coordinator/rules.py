# This module is pure (no I/O, no clock).
"""Which groups are hosted: the first rule whose pattern matches the whole group id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kproxy.config.patterns import compiled
from kproxy.coordinator.settings import GroupSettings
from kproxy.coordinator.usage import LONGEST_REMEMBERED
from kproxy.errors import ConfigError

if TYPE_CHECKING:
    import re2

    from kproxy.config.groups import GroupRule

_REMEMBERED: Final = 10_000
"""Group ids whose rule is remembered."""


class GroupRules:
    """The rules of a virtual cluster, in their order."""

    def __init__(self, rules: Sequence[GroupRule], key: str) -> None:
        """`key` is the virtual cluster's in the configuration; raises `ConfigError` for a pattern that is no regex."""
        self._rules = [
            (_compiled(rule.match, f"{key}.groups.{index}.match"), _settings(rule)) for index, rule in enumerate(rules)
        ]
        self._known: dict[str, GroupSettings | None] = {}

    def settings_of(self, group_id: str) -> GroupSettings | None:
        """Return the settings of a hosted group, None for one that is its broker's."""
        try:
            return self._known[group_id]
        except KeyError:
            pass
        found = next((settings for pattern, settings in self._rules if pattern.fullmatch(group_id)), None)
        if len(group_id) <= LONGEST_REMEMBERED:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[group_id] = found
        return found


def _compiled(pattern: str, key: str) -> re2._Regexp:
    try:
        return compiled(pattern)
    except ValueError as error:
        raise ConfigError(key, f"{pattern!a} is not a regex (RE2): {error}") from error


def _settings(rule: GroupRule) -> GroupSettings:
    return GroupSettings(
        rule.initial_rebalance_delay,
        rule.min_session_timeout,
        rule.max_session_timeout,
        rule.max_members,
        rule.leader,
        rule.offset_refresh,
    )
