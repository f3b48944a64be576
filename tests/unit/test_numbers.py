"""Kafka's API keys and error codes are defined once: no module gives one of their numbers a name again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import kproxy
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode

ROOT = Path(kproxy.__file__).parent
NUMBERS = {name: member.value for enum in (ApiKey, ErrorCode) for name, member in enum.__members__.items()}
ELSEWHERE = {("telemetry/compression.py", "NONE")}
"""Of another enumeration of Kafka's: compression types."""


def named_numbers(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Names that a module or a class in it gives to whole numbers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs = [(node.target, node.value)]
        else:
            continue
        for target, value in pairs:
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            values = value.elts if isinstance(value, ast.Tuple) else [value]
            for each, number in zip(targets, values, strict=False):
                if isinstance(each, ast.Name) and isinstance(number, ast.Constant) and type(number.value) is int:
                    yield each.id, number.value


def defined_again(path: Path) -> set[tuple[str, str]]:
    """Each name of Kafka's that a module gives to its number, with the module."""
    module = path.relative_to(ROOT).as_posix()
    named = named_numbers(ast.parse(path.read_text(encoding="utf-8")))
    return {(module, name) for name, number in named if NUMBERS.get(name.lstrip("_")) == number}


def test_no_number_is_defined_again() -> None:
    """A name of Kafka's with its number stands in the generated enums only."""
    paths = [path for path in ROOT.rglob("*.py") if "generated" not in path.parts]
    assert len(paths) > 500
    assert set().union(*map(defined_again, paths)) == ELSEWHERE


def test_a_second_definition_is_found() -> None:
    """The search sees plain, annotated and joint definitions."""
    source = "METADATA: Final = 3\n_PRODUCE = 0\nFETCH, HEARTBEAT = 1, 12\nclass X:\n    SYNC_GROUP = 14\n"
    found = dict(named_numbers(ast.parse(source)))
    assert found == {"METADATA": 3, "_PRODUCE": 0, "FETCH": 1, "HEARTBEAT": 12, "SYNC_GROUP": 14}
