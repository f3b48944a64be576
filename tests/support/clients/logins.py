"""A process that logs in in several ways, one after the other: what came of each, and what its user is told.

Its settings are `accepted` and `refused`. Both have orders by name: `security`, as security.py has it, beside what the
library's own function takes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from security import use

Result = dict[str, Any]
Orders = Mapping[str, Mapping[str, Any]]


class Heard(logging.Handler):
    """What a library has logged from warnings on: with some its user is told no more than that."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []
        logging.getLogger().addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.lines.append(record.getMessage())

    def since(self) -> str:
        """Return what was logged since the last call."""
        found, self.lines = self.lines, []
        return " | ".join(found)


def logins(work: Callable[..., Result], refusal: Callable[..., Result]) -> Callable[..., Result]:
    """Return the scenario: `work` for each login that is accepted, `refusal` for each other one."""

    def scenario(accepted: Orders, refused: Orders) -> Result:
        return {
            "accepted": {name: _each(work, **order) for name, order in accepted.items()},
            "refused": {name: _each(refusal, **order) for name, order in refused.items()},
        }

    return scenario


def _each(call: Callable[..., Result], security: Mapping[str, str], **settings: Any) -> Result:
    use(security)
    return call(**settings)
