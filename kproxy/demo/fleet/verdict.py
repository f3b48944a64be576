"""Compares what the rules found on a day with what was planted in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kproxy.demo.fleet.troubles import Planted
from kproxy.pipeline.findings.finding import Finding
from kproxy.pipeline.findings.rules import RULES


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which planted troubles were found, and which findings are of no planted one.

    A trouble may be one for several rules: each pair of a rule and a subject counts.
    """

    planted: tuple[Planted, ...]
    missed: frozenset[tuple[str, str]]
    """Rules and subjects."""
    false_alarms: tuple[Finding, ...]

    @property
    def expected(self) -> int:
        """How many findings there had to be."""
        return sum(len(one.expected) for one in self.planted)

    @property
    def found(self) -> int:
        """How many of these there are."""
        return self.expected - len(self.missed)

    @property
    def precision(self) -> float:
        """Which part of the findings is right; 1 without any."""
        every = self.found + len(self.false_alarms)
        return self.found / every if every else 1.0

    @property
    def recall(self) -> float:
        """Which part of what was planted is found."""
        return self.found / self.expected

    @property
    def perfect(self) -> bool:
        """True when everything is found and nothing else."""
        return not self.missed and not self.false_alarms

    def has(self, planted: Planted) -> bool:
        """True when a trouble is found by all rules that must find it."""
        return self.missed.isdisjoint(planted.expected)


def judge(planted: Collection[Planted], found: Iterable[Finding], cluster: str) -> Verdict:
    """Judge the findings of kproxy's own rules in a virtual cluster; an installed rule is not asked for."""
    own = {rule.name for rule in RULES}
    of_cluster = [one for one in found if one.cluster == cluster and one.rule in own]
    expected = {pair for one in planted for pair in one.expected}
    pairs = {(one.rule, one.subject) for one in of_cluster}
    false_alarms = tuple(one for one in of_cluster if (one.rule, one.subject) not in expected)
    return Verdict(tuple(planted), frozenset(expected - pairs), false_alarms)
