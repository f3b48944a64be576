"""The limit of open files, which kproxy raises where it starts, and tests of many connections do."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def file_limit_restored() -> Iterator[None]:
    """Give this process the limit back that it had, for the tests behind this one."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
