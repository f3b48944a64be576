"""A process that scrapes a page on command, as Prometheus does: {"url": ..., "after": seconds} on standard input."""

from __future__ import annotations

import json
import sys
import threading
import time
import urllib.request


def scrape(url: str, after: float) -> dict[str, float]:
    """Return the page's bytes and its seconds; a failure ends the process with a line on standard error."""
    threading.Event().wait(after)
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as answer:
        size = len(answer.read())
    return {"bytes": size, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(scrape(**json.loads(line))), flush=True)
