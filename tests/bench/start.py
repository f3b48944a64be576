"""How long `kproxy serve` takes from exec until /readyz says ready, and the memory it has then."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.proc import family_cpu_seconds

from .process import rss_kib, wait_serving
from .targets import kproxy_command, ready


def start(bootstrap_servers: str, directory: Path, program: Path) -> tuple[float, float, float]:
    """Start kproxy once and end it; returns seconds, CPU seconds and KiB."""
    command, _, admin = kproxy_command(bootstrap_servers, program)
    path = directory / "kproxy-start.log"
    # Not through the harness, which runs a small Python first: that would count as kproxy's start.
    with path.open("ab") as log, subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL) as process:
        try:
            seconds = wait_serving(process, lambda: ready(admin), "kproxy", path)
            return seconds, family_cpu_seconds(process.pid), rss_kib(process.pid)
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
