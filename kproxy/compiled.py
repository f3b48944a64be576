"""Whether the relay of this installation is compiled (docs/performance.md), told without loading it."""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from typing import Final

_ONE_OF_THEM: Final = "kproxy.relay.requests"


def is_compiled() -> bool:
    """Compiled modules come all together or not at all, so one tells."""
    spec = find_spec(_ONE_OF_THEM)
    return spec is not None and spec.origin is not None and spec.origin.endswith(tuple(EXTENSION_SUFFIXES))
