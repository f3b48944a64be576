"""No variable of the machine; a running admin port."""

from __future__ import annotations

import os

import pytest

from tests.unit.admin.conftest import port, start, view

__all__ = ["port", "start", "view"]


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own KPROXY_ variables are no part of a test."""
    for name in list(os.environ):
        if name.startswith("KPROXY_"):
            monkeypatch.delenv(name)
