"""The Python class of a struct: annotations, defaults, and the conditions for a field to be present or null.

`codec` makes a `Shape` for each class that it generates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from codegen.schema import Field, Message, Struct, Versions
from codegen.source import condition

_PYTHON_TYPES: Final = {
    "bool": "bool",
    "int8": "int",
    "int16": "int",
    "uint16": "int",
    "int32": "int",
    "uint32": "int",
    "int64": "int",
    "float64": "float",
    "uuid": "UUID",
    "string": "str",
    "bytes": "bytes",
    "records": "bytes",
}
_METHODS: Final = {"bool": "boolean", "bytes": "blob", "records": "blob"}
_ZERO: Final = {
    "bool": "False",
    "float64": "0.0",
    "uuid": "ZERO_UUID",
    "string": '""',
    "bytes": 'b""',
    "records": "None",
}


def method(kind: str) -> str:
    """Return the name of the method of `Reader` and `Writer` for a primitive type."""
    return _METHODS.get(kind, kind)


@dataclass(frozen=True)
class Shape:
    """A struct of a message, in the versions in which it can occur."""

    message: Message
    struct: Struct
    versions: Versions

    @property
    def name(self) -> str:
        return self.struct.name

    @property
    def fields(self) -> list[Field]:
        return [field for field in self.struct.fields if field.versions & self.versions]

    @property
    def tagged(self) -> list[Field]:
        return sorted((field for field in self.fields if field.tagged), key=lambda field: field.tag or 0)

    @property
    def flexible(self) -> str:
        """The condition for the flexible encoding."""
        return condition(self.message.flexible, self.versions)

    @property
    def flexible_argument(self) -> str:
        """The expression for a method's argument `flexible`."""
        return self.flexible if self.flexible in ("True", "False") else "flexible"

    def present(self, field: Field) -> str:
        """Return the condition for a field to be among the untagged ones; "False" when it is tagged."""
        if not field.tagged:
            return condition(field.versions, self.versions)
        if field.tagged.low != field.versions.low:
            raise ValueError(f"{self.name}.{field.name} is tagged in some of its versions only")
        return "False"

    def present_as_tag(self, field: Field) -> str:
        """Return the condition for a tagged field, within the flexible versions."""
        return condition(field.versions, self.versions & self.message.flexible)

    def can_be_null(self, field: Field) -> bool:
        """Return True when any version allows null, or when an absent field is null."""
        return bool(field.nullable & field.versions & self.versions) or field.type == "records"

    def by_nullability(self, field: Field, call: Callable[[str], str]) -> str:
        """Return the expression that `call` makes from the prefix of a method's name: "nullable_" or ""."""
        when = condition(field.nullable, field.versions & self.versions)
        if when in ("True", "False"):
            return call("nullable_" if when == "True" else "")
        return f"{call('nullable_')} if {when} else {call('')}"

    def annotation(self, field: Field) -> str:
        base = field.element if field.struct else _PYTHON_TYPES[field.element]
        kind = f"list[{base}]" if field.is_array else base
        return f"{kind} | None" if self.can_be_null(field) else kind

    def class_default(self, field: Field) -> str:
        """Return the default for the class body."""
        value = default(field)
        if value == "[]":
            return "field(default_factory=list)"
        return f"field(default_factory={field.type})" if value.endswith("()") else value

    def refuse_sometimes_nullable(self, field: Field) -> None:
        """Raise ValueError for a struct that is nullable in some versions only.

        A nullable struct begins with a byte of its own. No message with a codec has a struct that got this byte later.
        """
        if self.by_nullability(field, str) != "nullable_":
            raise ValueError(f"{self.name}.{field.name}: a struct that is nullable in some of its versions only")


def default(field: Field) -> str:
    """Return a field's default as an expression."""
    if field.default == "null":
        return "None"
    if field.is_array:
        return "[]"
    if field.struct:
        return f"{field.struct.name}()"
    if field.default is None:
        return _ZERO.get(field.type, "0")
    return _literal(field.type, field.default)


def _literal(kind: str, text: str) -> str:
    if kind == "string":
        return f'"{text}"'
    if kind == "bool":
        return "True" if text == "true" else "False"
    return str(float(text)) if kind == "float64" else str(int(text, 0))
