"""Prometheus' own linter."""

from __future__ import annotations

import subprocess

from tests.support import tools


def complaints(page: bytes) -> str:
    """What `promtool check metrics` has to say of a page, "" when nothing."""
    tools.ensure("promtool")
    done = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, timeout=60, check=False)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == (3 if said else 0), said  # 3: the linter found something
    return said
