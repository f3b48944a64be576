"""Write the tables' columns into docs/pipeline.md. A tool for developers: `make generate` runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kproxy.docs_part import with_part
from kproxy.pipeline.tables import TABLES

PAGE: Final = Path("docs", "pipeline.md")
_BEGIN: Final = "<!-- columns: written by `make generate` -->\n"
_END: Final = "<!-- end of columns -->\n"


def with_columns(page: str) -> str:
    """Return the page with all tables' columns between the two marks; raise ValueError when a mark is missing."""
    sections = (f"\n### {table.name}\n\n{table.help}.\n\n{_rows(table.name)}" for table in TABLES.values())
    return with_part(PAGE, page, _BEGIN, f"{''.join(sections)}\n", _END)


def _rows(name: str) -> str:
    columns = "".join(f"| `{one.name}` | `{one.kind}` | {one.help} |\n" for one in TABLES[name].columns)
    return f"| column | type | meaning |\n|---|---|---|\n{columns}"


if __name__ == "__main__":
    PAGE.write_text(with_columns(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
