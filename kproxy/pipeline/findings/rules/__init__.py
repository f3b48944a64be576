"""The rules of kproxy, in modules by what they look at."""

from __future__ import annotations

from typing import Final

from kproxy.pipeline.findings.rule import Rule
from kproxy.pipeline.findings.rules import brokers, connections, consumers, groups, instances, producers, versions

RULES: Final[tuple[Rule, ...]] = (
    *producers.RULES,
    *consumers.RULES,
    *groups.RULES,
    *versions.RULES,
    *connections.RULES,
    *instances.RULES,
    *brokers.RULES,
)
