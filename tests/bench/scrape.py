"""A process that scrapes a page when told to, as Prometheus does: {"url": ..., "after": seconds} on standard input."""

from __future__ import annotations

import json
import sys
import threading
import time
import urllib.request


def scrape(url: str, after: float) -> dict[str, float]:
    """Bytes of the page, and the seconds that it took. A line on standard error and an end for a page not had."""
    threading.Event().wait(after)
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as answer:
        size = len(answer.read())
    return {"bytes": size, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(scrape(**json.loads(line))), flush=True)
