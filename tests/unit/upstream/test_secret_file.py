"""kproxy.upstream.secret_file: secrets in files, and files that hold none."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.upstream.secret_file import secret_in


@pytest.mark.parametrize(
    ("content", "secret"), [(b"s", "s"), (b"s\n", "s"), (b"s\r\n", "s"), (b"s\n\n", "s\n"), (b"\xc3\xa9", "é")]
)
def test_a_secret(tmp_path: Path, content: bytes, secret: str) -> None:
    """One line end at its end is no part of it."""
    file = tmp_path / "secret"
    file.write_bytes(content)
    assert secret_in(str(file)) == secret


@pytest.mark.parametrize(
    ("content", "why"), [(None, "no such file"), (b"\xff-hunter2", "is not utf-8"), (bytes(65537), "more than 65536")]
)
def test_no_secret(tmp_path: Path, content: bytes | None, why: str) -> None:
    """The error names the file and the reason, and nothing of what is in it."""
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ValueError, match=why) as caught:
        secret_in(str(file))
    assert str(caught.value).startswith(f"{file} cannot be used: ")
    assert "hunter2" not in str(caught.value).removeprefix(str(file))
