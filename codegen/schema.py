"""Kafka's message schemas as Python objects: messages, structs, fields and their version ranges.

`codegen.extraction` makes them of schemas.json. All generators read them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

OPEN: Final = 0x7FFF  # the upper end of "3+"

FIXED_WIDTH: Final = {
    "bool": 1,
    "int8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "float64": 8,
    "uuid": 16,
}
VARIABLE: Final = ("string", "bytes", "records")


@dataclass(frozen=True)
class Versions:
    """An inclusive range of versions; empty when `low` is above `high`."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str | None) -> Versions:
        """Parse `"0-3"`, `"2+"`, `"4"`, `"none"` or None; the last two are empty."""
        if text is None or text == "none":
            return cls(1, 0)
        if text.endswith("+"):
            return cls(int(text[:-1]), OPEN)
        low, _, high = text.partition("-")
        return cls(int(low), int(high or low))

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.low <= version <= self.high

    def __and__(self, other: Versions) -> Versions:
        return Versions(max(self.low, other.low), min(self.high, other.high))

    def __bool__(self) -> bool:
        return self.low <= self.high

    def __iter__(self) -> Any:
        return iter(range(self.low, self.high + 1))


NO_VERSIONS: Final = Versions(1, 0)


@dataclass(frozen=True)
class Field:
    """One field of a struct. `type` is Kafka's name; `struct` is set when the type, or its element's, is a struct."""

    name: str
    type: str
    versions: Versions
    nullable: Versions = NO_VERSIONS
    tagged: Versions = NO_VERSIONS
    tag: int | None = None
    default: str | None = None
    ignorable: bool = False
    struct: Struct | None = None

    @property
    def is_array(self) -> bool:
        return self.type.startswith("[]")

    @property
    def element(self) -> str:
        """The type of an array's elements; for other fields the field's own type."""
        return self.type.removeprefix("[]")

    @property
    def width(self) -> int | None:
        """The bytes on the wire for a fixed width, else None."""
        return FIXED_WIDTH.get(self.type)


@dataclass(frozen=True)
class Struct:
    """A named list of fields; messages are structs too."""

    name: str
    fields: tuple[Field, ...]

    def plain(self, version: int) -> list[Field]:
        """Return the fields of a version in the order of their bytes, without tagged ones."""
        return [f for f in self.fields if version in f.versions and version not in f.tagged]

    def tagged(self, version: int) -> list[Field]:
        """Return the fields in a version's tagged section, by ascending tag."""
        return sorted((f for f in self.fields if version in f.tagged & f.versions), key=lambda f: f.tag or 0)


@dataclass(frozen=True)
class Message:
    """A request, a response, or data that clients exchange; `kind` is "request", "response" or "data"."""

    kind: str
    api_key: int | None
    valid: Versions
    flexible: Versions
    unstable: bool
    listeners: tuple[str, ...]
    struct: Struct
    structs: tuple[Struct, ...] = field(default=())
    newest_from: int = 0
    """The lowest version that the newest release knows."""

    @property
    def name(self) -> str:
        return self.struct.name

    @property
    def versions(self) -> Versions:
        """The stable versions."""
        return Versions(self.valid.low, self.valid.high - 1) if self.unstable else self.valid


def parse_message(raw: dict[str, Any]) -> Message:
    """Return a message from its JSON; ValueError for a type that is neither primitive nor defined."""
    parser = _Parser({common["name"]: common for common in raw.get("commonStructs", ())})
    struct = parser.struct(raw["name"], raw.get("fields", []))
    valid = Versions.parse(raw["validVersions"])
    return Message(
        kind=raw["type"],
        api_key=raw.get("apiKey"),
        valid=valid,
        flexible=Versions.parse(raw.get("flexibleVersions")),
        unstable=raw.get("latestVersionUnstable", False),
        listeners=tuple(raw.get("listeners", ())),
        struct=struct,
        structs=tuple(parser.done.values()),
        newest_from=valid.low,
    )


class _Parser:
    """Resolves struct names within one message; `done` has the structs in the order to define their classes."""

    def __init__(self, common: dict[str, Any]) -> None:
        self._common = common
        self.done: dict[str, Struct] = {}

    def struct(self, name: str, fields: list[dict[str, Any]]) -> Struct:
        return Struct(name, tuple(self._field(raw) for raw in fields))

    def _field(self, raw: dict[str, Any]) -> Field:
        default = raw.get("default")
        return Field(
            name=raw["name"],
            type=raw["type"],
            versions=Versions.parse(raw["versions"]),
            nullable=Versions.parse(raw.get("nullableVersions")),
            tagged=Versions.parse(raw.get("taggedVersions")),
            tag=raw.get("tag"),
            default=None if default is None else str(default).lower() if isinstance(default, bool) else str(default),
            ignorable=raw.get("ignorable", False),
            struct=self._struct_of(raw),
        )

    def _struct_of(self, raw: dict[str, Any]) -> Struct | None:
        name = raw["type"].removeprefix("[]")
        if name in FIXED_WIDTH or name in VARIABLE:
            return None
        if name not in self.done:
            fields = raw.get("fields") or self._common.get(name, {}).get("fields")
            if fields is None:
                raise ValueError(f"{raw['name']}: no struct {name} in this message")
            self.done[name] = self.struct(name, fields)
        return self.done[name]
