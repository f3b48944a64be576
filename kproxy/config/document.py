"""Read a configuration file as plain data, with the line of each setting.

`kproxy.config.load` calls it when kproxy starts with a file, and at each SIGHUP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from kproxy.config.base import Path
from kproxy.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Document:
    """`data` is the root mapping; `lines` has the line, from 1, on which the setting at a path begins."""

    name: str
    data: dict[str, Any] = field(default_factory=dict)
    lines: Mapping[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int | None:
        """Return the line of the setting, or of the nearest one around it that the file has."""
        return next((self.lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.lines), None)


def read_document(file: FilePath) -> Document:
    """Return the file's settings. ConfigError has the file's name, and line and column where they are known."""
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
