"""Names below example.com that lead to this machine, for processes that a test starts; no others are touched."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

_SOURCE: Final = Path(__file__).with_suffix(".c")


SILENCE: Final = "silence"
"""While a file of this name is in the directory, names below silent.example.com have no answer."""


@contextmanager
def named_hosts(directory: Path) -> Iterator[None]:
    """Have programs that start inside resolve the names by the C library: those in C, Python, Java, node; not in Go."""
    library = directory / "named_hosts.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, _SOURCE, "-ldl"], check=True, timeout=60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_PRELOAD", str(library))
        patch.setenv("NAMED_HOSTS_SILENT", str(directory / SILENCE))
        yield
