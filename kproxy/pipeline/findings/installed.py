"""All rules: kproxy's own, and those of other packages, by the entry points of their group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.findings.rule import Rule
from kproxy.pipeline.findings.rules import RULES

ENTRY_POINTS: Final = "kproxy.pipeline.rules"
"""The group of entry points. Each is a `Rule`, or a list or tuple of them."""


def rules(only: Sequence[str] = ()) -> tuple[Rule, ...]:
    """Return all rules, or those of the names `only`; raise `PipelineError` when one cannot be had."""
    every = list(RULES)
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda each: each.name):
        every += _of(entry, {rule.name for rule in every})
    if unknown := sorted(set(only) - {rule.name for rule in every}):
        raise PipelineError(f"rule {unknown[0]!r}: there is none of this name; `kproxy pipeline rules` lists them")
    return tuple(rule for rule in every if not only or rule.name in only)


def _of(entry: EntryPoint, taken: Iterable[str]) -> list[Rule]:
    where = f"rules of the entry point {entry.name} = {entry.value}{_package(entry)}"
    try:
        loaded = entry.load()
    except Exception as error:
        raise PipelineError(f"{where} do not load: {type(error).__name__}: {_line(error)}") from error
    found = [loaded] if isinstance(loaded, Rule) else loaded
    if not isinstance(found, list | tuple) or not all(isinstance(each, Rule) for each in found):
        raise PipelineError(f"{where}: it is {_what(found)}, not a Rule or a list of Rules")
    names = [rule.name for rule in found]
    if twice := [name for number, name in enumerate(names) if name in taken or name in names[:number]]:
        raise PipelineError(f"{where}: there is another rule {twice[0]!r}; give it another name")
    return list(found)


def _package(entry: EntryPoint) -> str:
    return f" (package {entry.dist.name})" if entry.dist is not None else ""


def _what(found: object) -> str:
    kinds = {type(each).__name__ for each in found} if isinstance(found, list | tuple) else set()
    return f"a {type(found).__name__}" + (f" of {', '.join(sorted(kinds))}" if kinds else "")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
