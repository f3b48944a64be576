"""What a client says that does not do its work, in one line. Pure."""

from __future__ import annotations

import re
from typing import Final

MOST: Final = 160
"""Characters of a complaint."""
_NAMED: Final = re.compile(
    r"\b[\w.]*(?:Error|Exception)\b|\b(?:err|error|failed|unsupported|refused|EOF)\b", re.IGNORECASE
)
# What differs from run to run, or from machine to machine: addresses, paths, times.
_OWN: Final = re.compile(
    r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d\S*|\S*(?:127\.0\.0\.1|localhost|\[::1\])\S*|(?<!\S)\S*/\S+/\S*"
)
_STACK: Final = re.compile(r"\s+at |\s*File \"")
_CAUSED: Final = "Caused by: "
"""What is in front of the last of Java's exceptions, which names the cause."""


def complaint(output: str, topic: str) -> str:
    """Return the last line that names an error, without what is its own; the last line where none does."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and not _STACK.match(line)]
    named = [line for line in lines if _NAMED.search(line)]
    found = (named or lines or ["nothing"])[-1].removeprefix(_CAUSED)
    said = _OWN.sub("…", re.sub(rf"\b{topic}\b", "TOPIC", found))
    return " ".join(said.replace("|", "/").split())[:MOST]
