"""A configuration file as plain data that remembers the line of each setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from kproxy.config.base import Path
from kproxy.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Document:
    """`data` is the root mapping; `lines` says on which line, from 1, the setting at a path begins."""

    name: str
    data: dict[str, Any] = field(default_factory=dict)
    lines: Mapping[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int | None:
        """The line of the setting, or of the nearest one around it that the file has."""
        return next((self.lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.lines), None)


def read_document(file: FilePath) -> Document:
    """The file's settings. ConfigError names the file, and line and column where there are any."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(str(file), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(str(file), f"is not UTF-8 text (byte {error.start})") from None
    from kproxy.config.yaml_text import parse_yaml  # noqa: PLC0415 - 20 ms that only a file costs

    value, lines = parse_yaml(text, str(file))
    if value is None:
        return Document(str(file))
    if not isinstance(value, dict):
        raise ConfigError(str(file), f"must be a mapping of settings, not {type(value).__name__}")
    return Document(str(file), value, lines)
