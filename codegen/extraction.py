"""The committed extraction: all messages of two kafka-clients jars, and the newest one's error codes.

`generate` loads it once. The older jar adds the versions that the newest no longer knows (`codegen.union`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from codegen.schema import Message, parse_message
from codegen.union import united

SCHEMAS: Final = Path(__file__).with_name("schemas.json")


@dataclass(frozen=True)
class Error:
    """An error code; `retriable` is true when Java clients may retry."""

    code: int
    name: str
    retriable: bool


@dataclass(frozen=True)
class Release:
    """One kafka-clients jar."""

    version: str
    sha256: str


@dataclass(frozen=True)
class Schemas:
    """All messages by name, and the error codes; `releases` are those of kafka-clients, the newest first."""

    releases: tuple[Release, ...]
    messages: dict[str, Message]
    errors: tuple[Error, ...]

    @property
    def kafka_versions(self) -> str:
        """The releases in words."""
        return " and ".join(release.version for release in self.releases)

    def of_kind(self, kind: str) -> list[Message]:
        """Return the messages of a kind that have any version, ordered by api key."""
        found = [m for m in self.messages.values() if m.kind == kind and m.valid]
        return sorted(found, key=lambda m: m.api_key or 0)


def load(path: Path = SCHEMAS) -> Schemas:
    """Return the committed extraction; ValueError when the file is not one."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    older = raw["older"]
    messages = {entry["name"]: parse_message(entry) for entry in raw["messages"]}
    messages |= {entry["name"]: united(messages[entry["name"]], parse_message(entry)) for entry in older["messages"]}
    releases = tuple(Release(one["kafka_clients"], one["sha256"]) for one in (raw, older))
    return Schemas(releases, messages, tuple(Error(*entry) for entry in raw["errors"]))
