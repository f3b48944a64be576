# This module is pure (no I/O, no clock).
"""Which groups are hosted: the first rule whose pattern matches the whole group id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kproxy.config.patterns import FirstMatch, rule_pattern
from kproxy.coordinator.settings import GroupSettings
from kproxy.errors import ConfigError

if TYPE_CHECKING:
    import re2

    from kproxy.config.groups import GroupRule


class GroupRules(FirstMatch[GroupSettings]):
    """The rules of a virtual cluster, in their order."""

    def __init__(self, rules: Sequence[GroupRule], key: str) -> None:
        """`key` is the virtual cluster's in the configuration; raises `ConfigError` for a pattern that is no regex."""
        super().__init__(
            [(_pattern(rule.match, f"{key}.groups.{index}.match"), _settings(rule)) for index, rule in enumerate(rules)]
        )

    def settings_of(self, group_id: str) -> GroupSettings | None:
        """Return the settings of a hosted group, None for one that is its broker's."""
        return self.find(group_id)


def _pattern(pattern: str, key: str) -> re2._Regexp:
    try:
        return rule_pattern(pattern)
    except ValueError as error:
        raise ConfigError(key, str(error)) from error


def _settings(rule: GroupRule) -> GroupSettings:
    return GroupSettings(
        rule.initial_rebalance_delay,
        rule.min_session_timeout,
        rule.max_session_timeout,
        rule.max_members,
        rule.leader,
        rule.offset_refresh,
    )
