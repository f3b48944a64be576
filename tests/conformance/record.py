"""What was measured, as it is kept in docs/error-conformance.json: the page and a test are made from it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tests.conformance.cases import Case
from tests.conformance.observation import Behaviour, Finding

KEPT: Final = Path("docs", "error-conformance.json")


@dataclass(frozen=True, slots=True)
class Column:
    """One client's cells: its label, version and date, and what was found with `transaction.version` 2 and 1.

    `classic` has only the APIs that the client does not send with `transaction.version` 2.
    """

    label: str
    version: str
    date: str
    found: Mapping[Case, Finding] = field(default_factory=dict)
    classic: Mapping[Case, Finding] = field(default_factory=dict)

    def with_found(self, found: Mapping[Case, Finding], classic: Mapping[Case, Finding]) -> Column:
        """Return it with these cells in place of their former ones."""
        return replace(self, found={**self.found, **found}, classic={**self.classic, **classic})

    def best(self, case: Case) -> tuple[Finding | None, bool]:
        """Return the finding that says most of a case, and whether it is one with `transaction.version` 1."""
        found = self.found.get(case)
        if (found is None or found.behaviour is Behaviour.NOT_SENT) and case in self.classic:
            return self.classic[case], True
        return found, False


@dataclass(frozen=True, slots=True)
class Record:
    """All columns, by the client's name, and the versions of what they were measured with."""

    kafka: str
    kproxy: str
    columns: Mapping[str, Column]


def dumped(record: Record) -> str:
    """Return the text of the file, with a line for each cell."""
    columns = {name: _said(column) for name, column in record.columns.items()}
    text = json.dumps({"kafka": record.kafka, "kproxy": record.kproxy, "clients": columns}, indent=1)
    return re.sub(r"\{[^{}]+\}", _in_one_line, text) + "\n"


def _in_one_line(cell: re.Match[str]) -> str:
    return json.dumps(json.loads(cell[0]))


def _said(column: Column) -> dict[str, Any]:
    about = {"label": column.label, "version": column.version, "date": column.date}
    return {**about, "found": _cells(column.found), "classic": _cells(column.classic)}


def _cells(found: Mapping[Case, Finding]) -> dict[str, dict[str, Any]]:
    return {
        f"{case.api} {case.error}": {**asdict(one), "behaviour": one.behaviour.value} for case, one in found.items()
    }


def loaded(text: str) -> Record:
    """Return the record of a file's text."""
    said = json.loads(text)
    return Record(said["kafka"], said["kproxy"], {name: _column(one) for name, one in said["clients"].items()})


def _column(said: Mapping[str, Any]) -> Column:
    return Column(said["label"], said["version"], said["date"], _findings(said["found"]), _findings(said["classic"]))


def _findings(said: Mapping[str, Mapping[str, Any]]) -> dict[Case, Finding]:
    return {
        Case(*name.split()): Finding(**{**one, "behaviour": Behaviour(one["behaviour"])}) for name, one in said.items()
    }
