"""Write the list of rules into docs/findings.md. A tool for developers: `make generate` runs it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kproxy.docs_part import with_part
from kproxy.pipeline.findings.rule import Limit, Rule
from kproxy.pipeline.findings.rules import RULES

PAGE: Final = Path("docs", "findings.md")
_BEGIN: Final = "<!-- rules: written by `make generate` -->\n"
_END: Final = "<!-- end of rules -->\n"


def with_rules(page: str) -> str:
    """Return the page with all rules between the two marks; raise ValueError when a mark is missing."""
    return with_part(PAGE, page, _BEGIN, f"\n{_overview()}{''.join(_section(rule) for rule in RULES)}\n", _END)


def _overview() -> str:
    rows = "".join(
        f"| [`{rule.name}`](#{rule.name}) | {rule.kind} | {rule.severity} | {rule.help} |\n" for rule in RULES
    )
    return f"| rule | about a | severity | what it finds |\n|---|---|---|---|\n{rows}"


def _section(rule: Rule) -> str:
    return (
        f"\n### {rule.name}\n\n{rule.help}.\n\n{_numbers(rule)}"
        f"Says: *{_as_text(rule.reason)}.*\n\nTo do: {_as_text(rule.advice)}.\n"
    )


def _numbers(rule: Rule) -> str:
    parts = (("needs", rule.needs), ("limit", rule.limits))
    rows = "".join(f"| {part} | {one.value:,} | {one.help} |\n" for part, given in parts for one in given)
    return f"| | | |\n|---|---:|---|\n{rows}\n" if rows else ""


def limits(given: Iterable[Limit]) -> str:
    """Limits in words: their values, and of what."""
    return ", ".join(f"{limit.value:,} {limit.help}" for limit in given) or "one row on"


def _as_text(template: str) -> str:
    return template.replace("{", "‹").replace("}", "›")


if __name__ == "__main__":
    PAGE.write_text(with_rules(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
