"""A state file with a value that nobody can read: kproxy starts, and says so."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from tests.support.proxy import Proxy

_TELEMETRY: Final = {"telemetry": {"admin": "any"}}


@pytest.mark.parametrize("value", [b"{", b"\xff\xfe", b"[1, 2]", b'{"interval.ms": {}}', b"null"])
def test_unreadable_subscription(backend: str, tmp_path: Path, value: bytes) -> None:
    """kproxy starts and serves, and a line names the key; the value is not lost (issue 18, row 11)."""
    state = {"path": str(tmp_path / "state.db")}
    with Proxy(tmp_path, {"attacked": backend}, each=_TELEMETRY, state=state):
        pass  # makes the file
    _put("telemetry/attacked", "broken", value, tmp_path / "state.db")
    with Proxy(tmp_path, {"attacked": backend}, each=_TELEMETRY, state=state) as proxy:
        assert proxy.ready
        lines = [line for line in proxy.log.read_text().splitlines() if "broken" in line]
        assert lines
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [row for table in tables for row in connection.execute(f'SELECT * FROM "{table}"')]
    assert any(value in row or value.decode("latin-1") in row for row in kept), "the value was kept aside"


def _put(collection: str, key: str, value: bytes, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO entries (collection, key, value) VALUES (?, ?, ?)", (collection, key, value))
