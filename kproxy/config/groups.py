"""Settings of hosted groups: which consumer groups kproxy coordinates itself.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, field_validator

from kproxy.config.base import ConsistentSettings, Path
from kproxy.config.delivery import Text
from kproxy.config.patterns import rule_pattern
from kproxy.config.process import Count
from kproxy.config.units import seconds

SessionTimeout = Annotated[float, seconds(ge=0.1, le=86_400)]
Delay = Annotated[float, seconds(ge=0, le=3600)]


class GroupRule(ConsistentSettings):
    """Groups that kproxy coordinates. Of several entries the first that matches a group counts."""

    match: Text = Field(
        description="A regex (RE2) that must match the whole group id. Groups that no entry matches are the broker's.",
        examples=["orders-.*"],
    )
    initial_rebalance_delay: Delay = Field(
        default=3.0,
        description="How long the first members of an empty group wait for others; each one prolongs it by as much, "
        "up to the rebalance timeout. Seconds, or as 3s.",
    )
    min_session_timeout: SessionTimeout = Field(
        default=6.0,
        description="The shortest session.timeout.ms that a member may have; a shorter one is refused (26).",
    )
    max_session_timeout: SessionTimeout = Field(
        default=1800.0, description="The longest one; a longer one is refused (26)."
    )
    offset_refresh: Annotated[float, seconds(ge=1, le=7 * 86_400)] = Field(
        default=6 * 3600.0,
        description="How often the offsets of each live member are committed again, unchanged: the broker, which sees "
        "no members, expires offsets by the time of their commit (offsets.retention.minutes). Seconds, or as 6h.",
    )
    max_members: Count = Field(default=10_000, description="Members of one group; further ones are refused (81).")
    leader: Literal["first", "random"] = Field(
        default="first",
        description="Which member assigns partitions. first: the first that joined, as long as it stays; random: any "
        "one of each generation.",
    )

    @field_validator("match")
    @classmethod
    def _is_regex(cls, pattern: str) -> str:
        rule_pattern(pattern)
        return pattern

    def _problems(self) -> Iterator[tuple[Path, str]]:
        if self.min_session_timeout > self.max_session_timeout:
            yield ("min_session_timeout",), "is longer than max_session_timeout: no member could join"
