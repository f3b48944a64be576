# This module is pure (no I/O, no clock).
"""The rules of one virtual cluster by which faults are injected: which requests are hit, how often, and until when.

`kproxy.faults.policies` asks `Rules` about each request of an API in which faults can be injected. The settings and the
admin port say which rules there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from kproxy.config.patterns import rule_pattern
from kproxy.errors import ConflictError, NotFoundError

if TYPE_CHECKING:
    import re2

    from kproxy.config.faults import FaultRule

MOST_RULES: Final = 1000
"""Each request of an API is compared with all of its rules."""


class Rule:
    """One rule at work."""

    __slots__ = ("_client_id", "_ends", "_software", "fixed", "hits", "number", "settings")

    def __init__(self, number: int, settings: FaultRule, now: float, *, fixed: bool) -> None:
        self.number = number
        self.settings = settings
        self.fixed = fixed
        """True when the configuration has it: nothing else can remove it."""
        self.hits = 0
        """Requests that it has hit so far."""
        self._client_id = _pattern(settings.client_id)
        self._software = _pattern(settings.software)
        self._ends = None if settings.duration is None else now + settings.duration

    def spare(self) -> None:
        """Take back the last hit: that request could not get the fault."""
        self.hits -= 1

    def left(self, now: float) -> float | None:
        """Return for how many seconds it holds; None without an end."""
        return None if self._ends is None else max(0.0, self._ends - now)

    def is_over(self, now: float) -> bool:
        """True when it hits no request any more."""
        spent = self.settings.count is not None and self.hits >= self.settings.count
        return spent or (self._ends is not None and now >= self._ends)

    def hits_client(self, client_id: str | None, software: tuple[str, str] | None) -> bool:
        """Return whether it is about this client; one without a name has an empty one."""
        if self._client_id is not None and not self._client_id.fullmatch(client_id or ""):
            return False
        return self._software is None or self._software.fullmatch(" ".join(software or ())) is not None


def _pattern(text: str | None) -> re2._Regexp | None:
    return None if text is None else rule_pattern(text)


class Rules:
    """All rules; the first one that hits a request counts. `now` is in seconds, by any clock that only rises."""

    def __init__(self, now: Callable[[], float], chance: Callable[[], float]) -> None:
        """`chance` returns a random number from 0 to 1, without 1."""
        self._now = now
        self._chance = chance
        self._last = 0
        self._of: dict[int, list[Rule]] = {}
        self._known: dict[int, Rule] = {}
        """The newest `MOST_RULES` by number, also those that are over: a test asks afterwards what they have hit."""

    def all(self) -> Sequence[Rule]:
        """Return the rules that are not over, in the order in which they came."""
        now = self._now()
        live = (rule for of_api in self._of.values() for rule in of_api if not rule.is_over(now))
        return sorted(live, key=lambda rule: rule.number)

    def find(self, number: int) -> Rule:
        """Return a rule, also one that is over; raises `NotFoundError` where there is none."""
        live = (rule for rule in self.all() if rule.number == number)
        found = self._known.get(number) or next(live, None)
        if found is None:
            raise NotFoundError(f"there is no rule {number}: it was removed, or is over since long ago")
        return found

    def left(self, rule: Rule) -> float | None:
        """Return for how many seconds a rule holds from now on; None without an end."""
        return rule.left(self._now())

    def add(self, settings: FaultRule, *, fixed: bool = False) -> Rule:
        """Add a rule behind all others; raises `ConflictError` when there are too many."""
        if len(self.all()) >= MOST_RULES:
            raise ConflictError(f"there are {MOST_RULES} rules: remove one first")
        self._last += 1
        rule = Rule(self._last, settings, self._now(), fixed=fixed)
        now = self._now()
        of_api = [one for one in self._of.get(settings.api_key, ()) if not one.is_over(now)]
        self._of[settings.api_key] = [*of_api, rule]
        self._known[rule.number] = rule
        self._known.pop(rule.number - MOST_RULES, None)
        return rule

    def remove(self, number: int) -> Rule:
        """Remove a rule; raises `NotFoundError` where there is none, `ConflictError` where the configuration has it."""
        rule = next((one for one in self.all() if one.number == number), None)
        if rule is None:
            raise NotFoundError(f"there is no rule {number}: it was removed, or is over")
        if rule.fixed:
            raise ConflictError(f"rule {number} is in the configuration: remove it there, and reload")
        self._of[rule.settings.api_key].remove(rule)
        self._known.pop(number, None)
        return rule

    def clear(self, *, fixed: bool) -> int:
        """Remove all rules that are in the configuration, or all that are not; return how many."""
        gone = [rule for rule in self.all() if rule.fixed is fixed]
        for rule in gone:
            self._of[rule.settings.api_key].remove(rule)
        self._known = {number: rule for number, rule in self._known.items() if rule.fixed is not fixed}
        return len(gone)

    def hit(self, api_key: int, client_id: str | None, software: tuple[str, str] | None) -> Rule | None:
        """Return the rule that hits a request, which counts for that rule; None where the request is spared."""
        rules = self._of.get(api_key)
        if not rules:
            return None
        now = self._now()
        for rule in rules:
            if rule.is_over(now) or not rule.hits_client(client_id, software):
                continue
            if rule.settings.rate >= 1 or self._chance() < rule.settings.rate:
                rule.hits += 1
                return rule
        return None
