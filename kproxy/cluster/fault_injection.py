"""The injected faults of one virtual cluster: its rules, and what is noted of each fault.

`Cluster` has one where `faults.enabled` is set; the admin port adds and removes rules. Every fault is counted, reported
as an event and logged, so that nobody takes one for a broker's own.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import structlog
from pydantic import ValidationError

from kproxy.cluster.reported_client import reported_client
from kproxy.config.base import dotted
from kproxy.config.faults import FaultRule
from kproxy.config.reasons import reason
from kproxy.errors import InvalidArgumentError
from kproxy.faults.policies import policies
from kproxy.faults.rules import Rule, Rules
from kproxy.observe.events import FaultInjected, iso

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from kproxy.config.faults import Faults
    from kproxy.observe.counters import ClusterCounters
    from kproxy.protocol.api_table import ApiPolicy
    from kproxy.protocol.connections import ConnectionInfo
    from kproxy.protocol.context import Context

log: Final = structlog.get_logger("kproxy.faults")


class FaultInjection:
    """Injects faults by the rules of the settings, and by those that are added."""

    def __init__(
        self,
        settings: Faults,
        counters: ClusterCounters,
        info: Callable[[int], ConnectionInfo | None],
        report: Callable[[FaultInjected], None],
    ) -> None:
        """`info` is as `Connections.info`; `report` gets an event of each fault."""
        self._counters = counters
        self._info = info
        self._report = report
        # Not for secrets: a seed makes a test's faults the same each time.
        self._rules = Rules(time.monotonic, random.Random(settings.seed).random)
        self._fixed: tuple[FaultRule, ...] = ()
        self.policies: Mapping[int, ApiPolicy] = policies(self._rules, self._injected)
        self.reconfigure(settings)

    def announce(self) -> None:
        """Log that faults are enabled: nobody should learn it by a fault."""
        log.warning("faults can be injected: never in production", cluster=self._counters.name, rules=len(self._fixed))

    def reconfigure(self, settings: Faults) -> None:
        """Take the settings' rules over, where they have changed; those that were added stay."""
        if settings.rules == self._fixed:
            return
        self._rules.clear(fixed=True)
        self._fixed = settings.rules
        for one in settings.rules:
            self._add(one, fixed=True)

    def rules(self) -> Sequence[tuple[Rule, float | None]]:
        """Return the rules that are not over, and for how many seconds each holds; None without an end."""
        return [(rule, self._rules.left(rule)) for rule in self._rules.all()]

    def rule(self, number: int) -> tuple[Rule, float | None]:
        """Return one rule as `rules` does, also when it is over; raises as `Rules.find`."""
        rule = self._rules.find(number)
        return rule, self._rules.left(rule)

    def add(self, fields: Mapping[str, Any]) -> tuple[Rule, float | None]:
        """Add a rule, as in the settings; raises `InvalidArgumentError` or `ConflictError`."""
        try:
            settings = FaultRule.model_validate(fields)
        except ValidationError as error:
            raise InvalidArgumentError("; ".join(map(_problem, error.errors()))) from error
        rule = self._add(settings)
        return rule, self._rules.left(rule)

    def _add(self, settings: FaultRule, *, fixed: bool = False) -> Rule:
        rule = self._rules.add(settings, fixed=fixed)
        self._counters.begin_fault(settings.api, _label(rule))
        return rule

    def remove(self, number: int | None) -> int:
        """Remove a rule that was added, by default all of them; return how many. Raises as `Rules.remove`."""
        if number is None:
            return self._rules.clear(fixed=False)
        self._rules.remove(number)
        return 1

    @property
    def warning(self) -> str:
        """What an operator should know about it."""
        count = len(self._rules.all())
        if not count:
            return "faults can be injected (faults.enabled); there is no rule"
        return f"faults are injected: {count} rule{'s' * (count != 1)} (kproxy faults list)"

    def _injected(self, context: Context, rule: Rule, version: int) -> None:
        settings = rule.settings
        self._counters.count_fault(settings.api, _label(rule))
        if settings.error is not None:
            self._counters.api(settings.api_key, version).count_error(settings.error_code)
        log.info(
            "fault injected",
            cluster=self._counters.name,
            client=context.client,
            api=settings.api,
            fault=_label(rule),
            rule=rule.number,
        )
        self._report(self._event(context, rule, version))

    def _event(self, context: Context, rule: Rule, version: int) -> FaultInjected:
        settings, info = rule.settings, self._info(context.id)
        return FaultInjected(
            **reported_client(context),
            since=None if info is None else iso(info.opened),
            api=settings.api,
            api_version=version,
            fault=settings.fault,
            error=settings.error or settings.half,
            delay=settings.delay,
            rule=rule.number,
        )


def _label(rule: Rule) -> str:
    """Return the fault's kind; of an error its name."""
    return rule.settings.error or rule.settings.fault


def _problem(error: ErrorDetails) -> str:
    where, why = dotted(error["loc"]), reason(error, FaultRule)
    return f"{where}: {why}" if where else why
