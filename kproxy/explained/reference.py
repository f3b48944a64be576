"""Write the tables of docs/errors.md. A tool for developers: `make generate` runs it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kproxy.docs_part import with_part
from kproxy.errors import ErrorClass
from kproxy.explained.classes import CLIENT
from kproxy.explained.errors import Explanation, explained
from kproxy.explained.originated import WHY
from kproxy.wire.error_codes import ERROR_CODES

PAGE: Final = Path("docs", "errors.md")
_BEGIN: Final = "<!-- errors: written by `make generate` -->\n"
_END: Final = "<!-- end of errors -->\n"


def with_errors(page: str) -> str:
    """Return the page with all classes and codes between its marks; raise ValueError when a mark is missing."""
    return with_part(PAGE, page, _BEGIN, f"\n{_classes()}\n{_codes()}\n{_originated()}\n", _END)


def _classes() -> str:
    rows = ((one.value, _codes_of(one), CLIENT[one]) for one in ErrorClass)
    return "## Classes\n\n" + _table(("class", "codes", "what a client library does"), rows)


def _codes_of(one: ErrorClass) -> str:
    return " ".join(f"[{found.code}](#{_anchor(found)})" for found in explained(one))


def _codes() -> str:
    rows = (
        (
            f'<a id="{_anchor(found)}"></a>{found.code}',
            f"`{found.name}`",
            found.classes,
            "yes" if found.retriable else "–",
            found.text.meaning,
            found.text.client or "–",
            found.text.advice,
            f"KIP-{found.text.kip}" if found.text.kip else "–",
        )
        for found in explained()
    )
    head = ("code", "name", "class", "retriable", "meaning", "beyond its class, a client", "what to do", "KIP")
    return "## Codes\n\n" + _table(head, rows)


def _originated() -> str:
    own = (one for one in explained() if one.text.kproxy)
    rows = ((str(one.code), f"`{one.name}`", one.classes, one.text.kproxy, WHY[ERROR_CODES[one.code]]) for one in own)
    head = ("code", "name", "class", "when kproxy answers it", "why of this class")
    return "## Errors of kproxy's own\n\n" + _table(head, rows)


def _anchor(found: Explanation) -> str:
    return f"error{found.code}"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = tuple(head)
    lines = (head, ("---",) * len(head), *rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(with_errors(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
