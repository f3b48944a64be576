"""A process that scrapes a page at an interval, as Prometheus does; ends with SIGTERM."""

from __future__ import annotations

import sys
import threading
import time
import urllib.request


def main(url: str, first: float, interval: float) -> None:
    """`first` and `interval` in seconds."""
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
    due = time.monotonic() + first
    while True:
        threading.Event().wait(max(0.0, due - time.monotonic()))
        with urllib.request.urlopen(request, timeout=60) as answer:
            size = len(answer.read())
        print(f"{size} bytes", flush=True)
        due += interval


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
