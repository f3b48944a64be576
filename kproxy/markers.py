"""Find the pure and the compiled modules: each says so in its first line, as `first_line` makes it.

A pure module has no input or output, no clock and no randomness: bytes, events and `now` come in, decisions and bytes
go out. An import contract checks that, and `make coverage` requires that tests reach every branch. mypyc compiles the
compiled modules when the wheel is built with it.

The wheel's build, the tests and codegen call it; kproxy does not when it runs. hatch_build.py loads this file by its
path, so it imports nothing of kproxy.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent
PURE: Final = "pure"
COMPILED: Final = "compiled"
_MEANINGS: Final = {PURE: "no I/O, no clock", COMPILED: "by mypyc"}
_MARK: Final = re.compile(r"# This module is ([a-z ]+)\.\n")


def first_line(*markers: str) -> str:
    """Return the first line of a module with these markers, without its newline."""
    return f"# This module is {' and '.join(f'{marker} ({_MEANINGS[marker]})' for marker in markers)}."


def marked(marker: str, package: Path = PACKAGE) -> list[str]:
    """Return the sorted paths of the modules with a marker, relative to the package's parent: `kproxy/wire/skim.py`."""
    return sorted(str(path.relative_to(package.parent)) for path in package.rglob("*.py") if marker in marks(path))


def marks(path: Path) -> set[str]:
    """Return the markers in a module's first line; raise ValueError for a word that is not a marker."""
    with path.open(encoding="utf-8") as source:
        found = _MARK.fullmatch(re.sub(r" \([^)]*\)", "", source.readline()))
    said = set() if found is None else set(found[1].split(" and "))
    if unknown := said - {PURE, COMPILED}:
        raise ValueError(f"{path}: unknown marker {', '.join(sorted(unknown))}; there are {PURE} and {COMPILED}")
    return said


def module_name(path: str) -> str:
    """Return `kproxy.wire.skim` for `kproxy/wire/skim.py`, and the package's name for its `__init__.py`."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
