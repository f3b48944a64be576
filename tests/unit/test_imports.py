"""The modules of kproxy import each other in one direction, also where an import is for types only."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import kproxy

PACKAGE = Path(kproxy.__file__).parent


def modules() -> dict[str, Path]:
    """Each module by its dotted name."""
    return {_name(path): path for path in PACKAGE.rglob("*.py")}


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, known: Mapping[str, Path]) -> set[str]:
    """What a module imports of kproxy, anywhere in it: at the top, for types, within a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (below & known.keys()) or {node.module}
    return found & known.keys()


def circles(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """The groups of modules of which each reaches each other one."""
    reach = {module: _reached(graph, module) for module in graph}
    seen: set[str] = set()
    for module in sorted(graph):
        circle = sorted(other for other in reach[module] if module in reach[other])
        if circle and module not in seen:
            seen |= set(circle)
            yield circle


def _reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    ahead = [start]
    while ahead:
        for module in graph[ahead.pop()] - reached:
            reached.add(module)
            ahead.append(module)
    return reached


def test_circles_are_found() -> None:
    """Of two, of three, and none where there is none."""
    assert list(circles({"a": {"b"}, "b": {"c"}, "c": set()})) == []
    assert list(circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == [["a", "b", "c"]]
    assert list(circles({"a": {"b"}, "b": {"a"}, "c": {"d"}, "d": {"c"}})) == [["a", "b"], ["c", "d"]]


def test_no_modules_import_each_other() -> None:
    """A circle is one thing cut in pieces that reach through each other."""
    known = modules()
    assert list(circles({name: imported(path, known) - {name} for name, path in known.items()})) == []
