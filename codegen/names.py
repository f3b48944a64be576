"""Converts Kafka's names to Python's spelling.

The generators call it for the names of messages and fields.
"""

from __future__ import annotations

import keyword
import re


def words(name: str) -> list[str]:
    """`ThrottleTimeMs` -> `["Throttle", "Time", "Ms"]`."""
    return re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z0-9]*|[A-Z]+|[a-z0-9]+", name)


def snake(name: str) -> str:
    """`ThrottleTimeMs` -> `throttle_time_ms`; a Python keyword gets an underscore behind it."""
    result = "_".join(words(name)).lower()
    return f"{result}_" if keyword.iskeyword(result) else result


def constant(name: str) -> str:
    """`ThrottleTimeMs` -> `THROTTLE_TIME_MS`."""
    return "_".join(words(name)).upper()
