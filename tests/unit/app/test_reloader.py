"""kproxy.app.reloader: which changes of a file count."""

from __future__ import annotations

from pathlib import Path

from kproxy.app.reloader import _stamp


def test_permissions_count(tmp_path: Path) -> None:
    """A key that kproxy could not read is read once an operator has run chmod."""
    file = tmp_path / "key"
    assert _stamp(str(file)) is None
    file.write_text("k")
    before = _stamp(str(file))
    assert before == _stamp(str(file))
    file.chmod(0o640)
    assert _stamp(str(file)) != before
