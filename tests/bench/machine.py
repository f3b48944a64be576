"""Describe the machine that the figures were taken on: without it they mean nothing."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import kproxy
from kproxy.local_kafka import jars

from .targets import haproxy_version


def describe() -> dict[str, object]:
    """Return processor, cores, memory, versions, and the load of the machine when the run began."""
    return {
        "processor": _line("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory": _line("/proc/meminfo", "MemTotal"),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "kproxy": kproxy.__version__,
        "commit": _commit(),
        "kafka": jars.KAFKA_4_3.name,
        "haproxy": haproxy_version(),
        "load_average": os.getloadavg()[0],
    }


def _line(path: str, key: str) -> str:
    for line in Path(path).read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return "unknown"


def _commit() -> str:
    """Return the commit of the checkout, marked when files differ from it; unknown outside of one."""
    command = ["git", "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent)
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"
