"""`python -m tests.support.pure_coverage REPORT...` names what no unit test reached in pure modules, and fails then.

A REPORT is slipcover's, in JSON, with branches; what any of them has reached is reached.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from kproxy.markers import PACKAGE, PURE, marked

_ROOT: Final = PACKAGE.parent
_LACKS: Final = ("missing_lines", "missing_branches")


def missing(report: Mapping[str, Any], root: Path = _ROOT) -> Iterator[str]:
    """Yield a line for each pure module of which the report lacks a line or a branch."""
    for path in marked(PURE, root / PACKAGE.name):
        if path not in report["files"]:
            yield f"{path}: no test imports it"
            continue
        found = report["files"][path]
        never_runs = _never_runs((root / path).read_text(encoding="utf-8"))
        lines = [str(line) for line in found["missing_lines"] if line not in never_runs]
        branches = [f"{start}->{end}" for start, end in found["missing_branches"] if not never_runs & {start, end}]
        if lines or branches:
            yield f"{path}: not reached: {', '.join(lines + branches)}"


def merged(reports: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one report of what each of several runs lacks."""
    files: dict[str, dict[str, list[Any]]] = {}
    for report in reports:
        for path, found in report["files"].items():
            known = files.setdefault(path, {kind: found[kind] for kind in _LACKS})
            for kind in _LACKS:
                known[kind] = [one for one in known[kind] if one in found[kind]]
    return {"files": files}


def _never_runs(source: str) -> set[int]:
    """Return the lines that are there for the type checker only; all of them, where nothing else is imported."""
    tree = ast.parse(source)
    only_types = all(isinstance(node, ast.Import | ast.ImportFrom) or _is_for_types(node) for node in tree.body[1:])
    nodes = tree.body if only_types else [node for node in ast.walk(tree) if _is_for_types(node)]
    return {line for node in nodes if isinstance(node, ast.stmt) for line in _lines(node)}


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_for_types(node: ast.AST) -> bool:
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            return True
        case ast.Expr(value=ast.Constant(value=value)):
            return value is ...
        case ast.ClassDef():
            return any(ast.unparse(base).startswith("Protocol") for base in node.bases)
    return False


if __name__ == "__main__":
    found = list(missing(merged(json.loads(Path(path).read_text(encoding="utf-8")) for path in sys.argv[1:])))
    print("\n".join(found) or f"every branch of {len(marked(PURE))} pure modules is reached")
    sys.exit(bool(found))
