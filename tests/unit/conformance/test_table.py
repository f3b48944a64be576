"""The page is what the record says."""

from __future__ import annotations

from tests.conformance.cases import Case
from tests.conformance.observation import Behaviour, Finding
from tests.conformance.record import KEPT, Column, Record, dumped, loaded
from tests.conformance.table import PAGE, cell, difference, with_tables

FENCED = Case("EndTxn", "PRODUCER_FENCED")
ADDED = Case("AddPartitionsToTxn", "PRODUCER_FENCED")
COLUMN = Column(
    "Java 4",
    "4.4.0",
    "2026-01-01",
    {FENCED: Finding(Behaviour.ABORTED, "Fenced", "fatal", 1, 0), ADDED: Finding(Behaviour.NOT_SENT)},
    {ADDED: Finding(Behaviour.FATAL, "Fenced")},
)
MARKS = "before\n<!-- conformance: written by `make conformance` -->\nold\n<!-- end of conformance -->\nafter\n"


def test_a_cell() -> None:
    """A cell has a mark where it differs, the error, and a word where it was measured without KIP-890."""
    assert cell(COLUMN, FENCED) == "≠ aborted: `Fenced`"
    assert cell(COLUMN, ADDED) == "surfaced as fatal: `Fenced` (TV 1)"
    assert cell(COLUMN, Case("EndTxn", "NOT_COORDINATOR")) == "–"


def test_a_difference_is_a_sentence() -> None:
    """It says what the client did, and what is asked."""
    said = difference(COLUMN, FENCED)
    assert (
        ": after 1 more requests the application gets `Fenced` (fatal), aborts, and the same producer goes on." in said
    )
    assert said.endswith("Asked for: the client surfaces it; a new instance goes on.")


def test_a_retry_names_what_was_not_looked_up() -> None:
    """A client that only sends again differs where the request may have gone to the wrong broker."""
    sent = Case("Produce", "NOT_LEADER_OR_FOLLOWER")
    said = difference(Column("x", "1", "", {sent: Finding(Behaviour.RETRIED, repeats=1)}), sent)
    assert "it retries without having asked for metadata, and the application sees nothing. Asked" in said
    looking = Case("Metadata", "UNKNOWN_SERVER_ERROR")
    said = difference(Column("x", "1", "", {looking: Finding(Behaviour.RETRIED, repeats=1)}), looking)
    assert "it asks again, and the application sees nothing. Asked" in said


def test_the_page_has_the_totals() -> None:
    """What is between the marks is replaced, all else stays."""
    page = with_tables(MARKS, Record("4.4.0", "0.1", {"java": COLUMN}))
    assert "| Java 4 | 1 | 1 | 48 |" in page
    assert "old" not in page
    assert page.startswith("before\n")
    assert page.endswith("after\n")


def test_a_record_is_read_as_it_was_written() -> None:
    """JSON keeps everything."""
    record = Record("4.4.0", "0.1", {"java": COLUMN})
    assert loaded(dumped(record)) == record


def test_the_page_in_docs_is_that_of_its_json() -> None:
    """Nobody has changed one of them alone."""
    page = PAGE.read_text(encoding="utf-8")
    assert with_tables(page, loaded(KEPT.read_text(encoding="utf-8"))) == page
