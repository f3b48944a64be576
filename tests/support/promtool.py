"""Prometheus' own linter."""

from __future__ import annotations

import subprocess

from tests.support import tools


def complaints(page: bytes) -> str:
    """What `promtool check metrics` has to say of a page, "" when nothing."""
    tools.ensure("promtool")
    done = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, timeout=60, check=False)
    assert done.returncode in {0, 3}, done.stderr.decode()  # 3: the linter found something
    return (done.stdout + done.stderr).decode()
