"""What a long-lived client reports: one JSON line for each record it has acknowledged or read, and for each error."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

EVERY = 0.05
"""Seconds between two records of a producer."""

_writing = threading.Lock()


def say(who: str, event: str, value: str = "") -> None:
    """Print `event` (acked, consumed, error) of the role `who` with the time since the Unix epoch."""
    line = json.dumps({"at": time.time(), "who": who, "event": event, "value": value})
    with _writing:
        sys.stdout.write(f"{line}\n")  # in one piece: the library's own log goes to the same file
        sys.stdout.flush()


def roles() -> dict[str, dict[str, Any]]:
    """Return the roles of the command line's JSON: name -> `kind`, `topic`, `name` (a prefix of values), `settings`."""
    return dict(json.loads(sys.argv[1]))


def run(**kinds: Callable[..., None]) -> None:
    """Run every role in a thread of its own, for as long as the process lives."""
    threads = [
        threading.Thread(target=kinds[role.pop("kind")], kwargs={"who": who, **role}) for who, role in roles().items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
