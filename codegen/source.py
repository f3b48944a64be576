"""Collects lines of generated Python.

Each generator makes a `Source`, adds lines, and returns its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from codegen.schema import Versions
from kproxy.markers import COMPILED, first_line

HEADER = "# Made by `python -m codegen` from the message schemas of kafka-clients {version}; not to be edited."


class Source:
    """Collects lines at the current indentation."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def __call__(self, line: str = "") -> None:
        self._lines.append("    " * self._depth + line if line else "")

    def lines(self, text: str) -> None:
        """Add complete lines at the current indentation."""
        for line in text.splitlines():
            self(line)

    def only_if(self, when: str, line: str) -> None:
        """Add a line under a condition; with "True" without the condition, with "False" not at all."""
        if when == "True":
            self(line)
        elif when != "False":
            with self.block(f"if {when}"):
                self(line)

    @contextmanager
    def block(self, opening: str) -> Iterator[None]:
        """Add `opening:`; lines inside the context are indented below it."""
        self(f"{opening}:")
        self._depth += 1
        yield
        self._depth -= 1

    def table(self, opening: str, functions: Mapping[tuple[int, int], str]) -> None:
        """Add a dict of functions by api key and version, behind an empty line."""
        self()
        self(f"{opening} = {{")
        for key, name in functions.items():
            self(f"    {key}: {name},")
        self("}")

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"


def compiled_module(doc: str, kafka_version: str, imports: Iterable[str]) -> Source:
    """Return the beginning of a module that mypyc compiles."""
    source = Source()
    source(first_line(COMPILED))
    source(doc)
    source(HEADER.format(version=kafka_version))
    source()
    for line in imports:
        source(line)
    return source


def condition(versions: Versions, within: Versions) -> str:
    """Return a Python condition for `version` in `versions`; "True" or "False" when `within`, its range, decides it."""
    shared = versions & within
    if not shared:
        return "False"
    if shared == within:
        return "True"
    if shared.high == within.high:
        return f"version >= {shared.low}"
    if shared.low == within.low:
        return f"version <= {shared.high}"
    return f"version == {shared.low}" if shared.low == shared.high else f"{shared.low} <= version <= {shared.high}"
