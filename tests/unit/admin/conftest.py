"""A running admin port, on a free port of the loopback."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Protocol

import pytest
import trio

from kproxy.admin.limits import Limits
from kproxy.admin.server import serve_admin
from tests.unit.admin.memory_view import MemoryView


class Start(Protocol):
    async def __call__(self, limits: Limits | None = None, allowed_hosts: Sequence[str] = ()) -> int: ...


@pytest.fixture
def view() -> MemoryView:
    return MemoryView()


@pytest.fixture
def start(view: MemoryView, nursery: trio.Nursery) -> Start:
    """Starts an admin port over the test's view; returns its port."""

    async def start_admin(limits: Limits | None = None, allowed_hosts: Sequence[str] = ()) -> int:
        serve = partial(serve_admin, view, "127.0.0.1", 0, limits=limits, allowed_hosts=allowed_hosts)
        bound: tuple[str, int] = await nursery.start(serve)
        return bound[1]

    return start_admin


@pytest.fixture
async def port(start: Start) -> int:
    """The port of an admin port with the limits of production."""
    return await start()
