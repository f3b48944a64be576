"""kproxy.config.document: configuration files, and errors of the file itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.config.document import Document, read_document
from kproxy.errors import ConfigError


def test_empty_file(tmp_path: Path) -> None:
    """A file without settings is valid YAML."""
    file = tmp_path / "empty.yaml"
    file.write_text("# nothing\n")
    assert read_document(file) == Document(str(file))


def test_byte_order_mark(tmp_path: Path) -> None:
    """Some editors write a byte order mark; it is ignored."""
    file = tmp_path / "bom.yaml"
    file.write_bytes(b"\xef\xbb\xbfadmin: a:1\n")
    assert read_document(file).data == {"admin": "a:1"}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"- a\n", "must be a mapping of settings, not list"),
        (b"text", "must be a mapping of settings, not str"),
        (b"a: \xff", "is not UTF-8 text (byte 3)"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes | None, why: str) -> None:
    """The error has the file's name and the reason."""
    file = tmp_path / "bad.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_document(file)
    assert str(caught.value) == f"{file}: {why}"


def test_directory(tmp_path: Path) -> None:
    """A directory cannot be read as a file."""
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_document(tmp_path)
