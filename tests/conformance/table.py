"""The page docs/error-conformance.md, made of a record. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from kproxy.docs_part import with_part
from tests.conformance.cases import CASES, ERRORS, OF_GROUPS, Case
from tests.conformance.expectation import agrees, asked, looked_up
from tests.conformance.observation import Behaviour, Finding
from tests.conformance.record import Column, Record

PAGE: Final = Path("docs", "error-conformance.md")
_BEGIN: Final = "<!-- conformance: written by `make conformance` -->\n"
_END: Final = "<!-- end of conformance -->\n"
_WITH_ONE: Final = ", with transaction.version 1"


def with_tables(page: str, record: Record) -> str:
    """Return the page with everything that was measured; ValueError where a mark is missing."""
    parts = (_versions(record), _totals(record), *(_of_api(record, api) for api in ERRORS), _differences(record))
    return with_part(PAGE, page, _BEGIN, "\n" + "\n".join(parts) + "\n", _END)


def _versions(record: Record) -> str:
    rows = ((column.label, column.version, column.date) for column in record.columns.values())
    measured = f"Measured with Apache Kafka {record.kafka}, one node, and kproxy {record.kproxy}.\n\n"
    return f"## Versions\n\n{measured}{_table(('client', 'version', 'measured on'), rows)}"


def _totals(record: Record) -> str:
    rows = []
    for column in record.columns.values():
        verdicts = Counter(_verdict(column, case) for case in CASES)
        rows.append((column.label, *(str(verdicts[one]) for one in (True, False, None))))
    return "## Totals\n\n" + _table(("client", "as asked", "differs", "not sent"), rows)


def _verdict(column: Column, case: Case) -> bool | None:
    found, _ = column.best(case)
    return None if found is None else agrees(case, found)


def _of_api(record: Record, api: str) -> str:
    columns = list(record.columns.values())
    head = ("class", "error", "asked for", *(column.label for column in columns))
    rows = (
        (case.of_class.value, f"`{case.error}`", asked(case), *(cell(column, case) for column in columns))
        for case in CASES
        if case.api == api
    )
    work = "a member of a classic group reads and commits" if api in OF_GROUPS else "a producer's transaction"
    return f"## {api}\n\nMeanwhile: {work}.\n\n{_table(head, rows)}"


def cell(column: Column, case: Case) -> str:
    """Return what a client did, in a few words; ≠ is in front where that is not what is asked."""
    found, classic = column.best(case)
    if found is None:
        return "–"
    mark = "≠ " if agrees(case, found) is False else ""
    return f"{mark}{found.behaviour.value}{_named(found)}{' (TV 1)' if classic else ''}"


def _named(found: Finding) -> str:
    return f": `{found.error}`" if found.error and found.behaviour is not Behaviour.HANGS else ""


def _differences(record: Record) -> str:
    lines = [line for column in record.columns.values() for line in _of_column(column)]
    return "## Differences\n\n" + "\n".join(lines) + "\n"


def _of_column(column: Column) -> Iterator[str]:
    differing = [case for case in CASES if _verdict(column, case) is False]
    if differing:
        yield f"### {column.label} {column.version}\n"
        for case in differing:
            yield difference(column, case)
        yield ""


def difference(column: Column, case: Case) -> str:
    """Return a sentence about a cell that differs."""
    found, classic = column.best(case)
    assert found is not None
    where = f"{case.api}, `{case.error}` ({case.of_class.value}{_WITH_ONE if classic else ''})"
    return f"- {where}: {_did(case, found)}. Asked for: the client {asked(case)}."


_DID: Final = {
    Behaviour.RETRIED: "it retries without having asked for {looked_up}, and the application sees nothing",
    Behaviour.REFRESHED: "it asks for {looked_up} and retries, and the application sees nothing",
    Behaviour.ABORTED: "the application gets {error}, aborts, and the same producer goes on",
    Behaviour.GOES_ON: "the application gets {error}, and the same instance goes on",
    Behaviour.FATAL: "the application gets {error}, this instance's next attempt fails ({then}), and a new one goes on",
    Behaviour.DEAD: "the application gets {error}, and neither this instance ({then}) nor a new one goes on",
    Behaviour.IGNORED: "it takes the error for success, and does not send the request again",
    Behaviour.LOST: "it takes the error for success, and records are lost",
    Behaviour.HANGS: "the call does not end before its deadline",
}


def _did(case: Case, found: Finding) -> str:
    if case.look_up is None and found.behaviour is Behaviour.RETRIED:
        return "it asks again, and the application sees nothing"
    error = f"`{found.error}`{f' ({found.says})' if found.says else ''}"
    said = _DID[found.behaviour].format(error=error, then=f"`{found.then}`", looked_up=looked_up(case))
    return f"after {found.repeats} more requests {said}" if found.repeats and found.error else said


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = tuple(head)
    lines = (head, ("---",) * len(head), *rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
