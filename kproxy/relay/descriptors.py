"""The process's limit of open files: each relayed connection takes two.

`kproxy.app.process` raises it when kproxy starts; the acceptor reads it to know how many connections there may be.
"""

from __future__ import annotations

import resource
import sys


def descriptor_limit() -> int:
    """Return how many files this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


def raise_descriptor_limit() -> tuple[int, int]:
    """Raise the soft limit to the hard one; return the limit before and now.

    Systems keep the soft one at 1,024 for programs that call select(2), which takes no higher descriptor. kproxy does
    not call it.
    """
    before = descriptor_limit()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # a system may allow less than it says; the limit that was there is enough to run
        pass
    return before, descriptor_limit()
