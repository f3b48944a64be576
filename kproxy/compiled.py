"""Find out whether this installation's relay is compiled (docs/performance.md), without importing it.

`kproxy --version` and each scrape of /metrics ask it.
"""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from typing import Final

_ONE_OF_THEM: Final = "kproxy.relay.requests"


def is_compiled() -> bool:
    """Return True when the relay is compiled. All of its modules are or none is, so it is enough to look at one."""
    spec = find_spec(_ONE_OF_THEM)
    return spec is not None and spec.origin is not None and spec.origin.endswith(tuple(EXTENSION_SUFFIXES))
