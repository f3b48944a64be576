"""Prometheus' own linter."""

from __future__ import annotations

import subprocess

from tests.support import tools


def complaints(page: bytes) -> str:
    """Return what `promtool check metrics` complains of in a page, "" for nothing."""
    tools.ensure("promtool")
    done = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, timeout=60, check=False)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == (3 if said else 0), said  # 3: the linter found something
    return said
