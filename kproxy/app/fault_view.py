# This module is pure (no I/O, no clock).
"""Shows the rules of injected faults to the admin port.

`ProcessView` calls it for each rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproxy.admin.models import FaultRuleView

if TYPE_CHECKING:
    from kproxy.faults.rules import Rule


def fault_rule_view(rule: Rule, seconds: float | None) -> FaultRuleView:
    """Return a rule as the API shows it; it holds for so many seconds, or without an end."""
    settings = rule.settings
    return FaultRuleView(
        id=rule.number,
        api=settings.api,
        client_id=settings.client_id,
        software=settings.software,
        error=settings.error,
        delay=settings.delay,
        close=settings.close,
        half=settings.half,
        rate=settings.rate,
        count=settings.count,
        hits=rule.hits,
        seconds=None if seconds is None else round(seconds, 3),
        fixed=rule.fixed,
    )
