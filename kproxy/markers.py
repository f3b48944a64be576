"""Which modules are pure and which are compiled: each says so in its first line, `# This module is pure and compiled.`

Pure: no input or output, no clock, no chance; bytes, events and `now` come in, decisions and bytes go out. An import
contract holds it, and `make coverage` every branch. Compiled: by mypyc, where the wheel is built with it
(hatch_build.py, which loads this file by its path; so it imports nothing of kproxy).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent
PURE: Final = "pure"
COMPILED: Final = "compiled"
_MARK: Final = re.compile(r"# This module is ([a-z ]+)\.\n")


def marked(marker: str, package: Path = PACKAGE) -> list[str]:
    """The paths of the modules with a marker, from the package's parent on: `kproxy/wire/skim.py`; sorted."""
    return sorted(str(path.relative_to(package.parent)) for path in package.rglob("*.py") if marker in marks(path))


def marks(path: Path) -> set[str]:
    """What a module's first line says of it; raises ValueError for a word that is none of the markers."""
    with path.open(encoding="utf-8") as source:
        found = _MARK.fullmatch(source.readline())
    said = set() if found is None else set(found[1].split(" and "))
    if unknown := said - {PURE, COMPILED}:
        raise ValueError(f"{path}: unknown marker {', '.join(sorted(unknown))}; there are {PURE} and {COMPILED}")
    return said


def module_name(path: str) -> str:
    """`kproxy.wire.skim` of `kproxy/wire/skim.py`; a package's name of its `__init__.py`."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
