"""Settings of byte rates: how much each principal may produce and fetch through a virtual cluster.

They are validated whenever a configuration is loaded: when kproxy starts, and at each reload.
"""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_validator, model_validator

from kproxy.config.base import Settings, refuse
from kproxy.config.delivery import Text
from kproxy.config.patterns import rule_pattern
from kproxy.config.process import ByteRate


class PrincipalByteRate(Settings):
    """Byte rates of the principals that a pattern matches. Of several entries the first that matches counts."""

    principal: Text = Field(
        description="A regex (RE2) that must match the whole principal, which is as Kafka writes it. Who has not "
        "authenticated, or by a mechanism that kproxy cannot read, is User:ANONYMOUS.",
        examples=["User:batch-.*"],
    )
    produce: ByteRate | None = Field(
        default=None,
        description="Bytes a second that each such principal may produce, over all its connections to this process; "
        "for instance 10MiB. Without it there is no limit.",
    )
    fetch: ByteRate | None = Field(default=None, description="The same for what it fetches.")

    @field_validator("principal")
    @classmethod
    def _is_regex(cls, pattern: str) -> str:
        rule_pattern(pattern)
        return pattern

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.produce is None and self.fetch is None:
            refuse([((), "names no rate: give produce, fetch or both")])
        return self
