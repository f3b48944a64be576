"""A rule: a query whose rows are findings, and the words in which a finding is told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from string import Formatter
from typing import Final, Literal, get_args

from kproxy.pipeline.findings import queries

Severity = Literal["critical", "warning", "info"]
Kind = Literal["client", "group", "broker", "version", "proxy", "address"]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
"""The worst one first."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_NAME: Final = r"[a-z0-9]+(-[a-z0-9]+)*"
GIVEN: Final = frozenset({"since", "until"})
"""Parameters that every query has: the time that is looked at, without its end."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A number that the query has as the parameter `:name`."""

    name: str
    value: float
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Finds one kind of trouble. Raises ValueError when its parts do not fit together.

    The query is Spark SQL over the tables of the pipeline, by their names. Each of its rows is a finding: `cluster` and
    `subject` say about what, `severity` may stand in for the rule's, all columns are the evidence.
    """

    name: str
    help: str
    """What it finds, in one sentence without its full stop."""
    kind: Kind
    severity: Severity
    query: str
    reason: str
    """A template of `str.format` over the columns of a row and the limits: a sentence with figures."""
    advice: str
    """What to do; a template as `reason`."""
    needs: tuple[Limit, ...] = ()
    """From how much data on it says anything."""
    limits: tuple[Limit, ...] = ()
    """From where on something is trouble."""

    def __post_init__(self) -> None:
        """Refuse what cannot work, with the rule's name."""
        try:
            problem = self._problem()
        except ValueError as error:
            problem = str(error)
        if problem:
            raise ValueError(f"rule {self.name!r}: {problem}")

    @property
    def values(self) -> Mapping[str, float]:
        """All limits by name."""
        return {limit.name: limit.value for limit in (*self.needs, *self.limits)}

    @property
    def fields(self) -> frozenset[str]:
        """The columns, and limits, that the words of a finding name."""
        return frozenset().union(*(_fields(template) for template in (self.reason, self.advice)))

    def _problem(self) -> str | None:
        asked, given = queries.parameters(self.query), GIVEN | self.values.keys()
        unused = self.values.keys() - asked - self.fields
        problems = {
            "a name has small letters, digits and single hyphens": not re.fullmatch(_NAME, self.name),
            f"kind {self.kind!r} is none of {', '.join(KINDS)}": self.kind not in KINDS,
            f"severity {self.severity!r} is none of {', '.join(SEVERITIES)}": self.severity not in SEVERITIES,
            f"its limit {_first(GIVEN & self.values.keys())} has the name of a time": GIVEN & self.values.keys(),
            f"its query asks for :{_first(asked - given)}, which is neither since, until nor a limit": asked - given,
            f"its limit {_first(unused)} is not in its query": unused,
        }
        return next((problem for problem, there in problems.items() if there), None)


def _first(names: AbstractSet[str]) -> str:
    return min(names, default="")


def _fields(template: str) -> set[str]:
    """The names in a template; ValueError says what is wrong with it."""
    try:
        parsed = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise ValueError(f"template {template!r}: {error}") from None
    names = {re.split(r"[.\[]", name)[0] for name in parsed}
    if "" in names or any(name.isdigit() for name in names):
        raise ValueError(f"template {template!r}: a field needs the name of a column, as {{recent}}")
    return names
