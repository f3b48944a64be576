"""`python -m tests.support.pure_coverage FILE` writes coverage's configuration: every branch of the pure modules."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from kproxy.markers import PURE, marked

_BEFORE: Final = """\
[run]
branch = True
include =
"""
_AFTER: Final = """\
[report]
show_missing = True
skip_covered = True
fail_under = 100
precision = 2
exclude_also =
    if TYPE_CHECKING:
    class .*\\(Protocol\\)
    \\.\\.\\.$
"""


def config() -> str:
    """The configuration's text."""
    return _BEFORE + "".join(f"    {path}\n" for path in marked(PURE)) + _AFTER


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(config(), encoding="utf-8")
