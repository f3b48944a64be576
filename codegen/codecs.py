"""One module a message: slotted dataclasses whose `read` and `write` branch on the version, as Kafka's own do."""

from __future__ import annotations

from typing import Final

from codegen.names import snake
from codegen.schema import Field, Message, Struct, Versions
from codegen.source import HEADER, Source, condition

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
_IMPORTS: Final = (
    "from __future__ import annotations",
    "",
    "from dataclasses import dataclass, field",
    "from typing import ClassVar, Self",
    "from uuid import UUID",
    "",
    "from kproxy.wire.message import WireMessage, WireStruct, absent",
    "from kproxy.wire.primitives import ZERO_UUID, Reader, Tags, Writer, not_null",
)


def codec(message: Message, kafka_version: str) -> str:
    """The module's text."""
    source = Source()
    source(f'"""{message.name}, versions {message.versions.low} to {message.versions.high}."""')
    source(HEADER.format(version=kafka_version))
    source()
    for line in _IMPORTS:
        source(line)
    ranges = _ranges(message)
    for struct in (*message.structs, message.struct):
        if ranges.get(struct.name):
            _Class(source, message, struct, ranges[struct.name]).emit()
    return _without_unused_imports(source.text())


def _ranges(message: Message) -> dict[str, Versions]:
    """In which of the message's versions each struct can stand."""
    ranges = {message.name: message.versions}
    for struct in (message.struct, *reversed(message.structs)):
        within = ranges.get(struct.name)
        for field in struct.fields if within else ():
            if field.struct and within and (here := field.versions & within):
                seen = ranges.get(field.struct.name, here)
                ranges[field.struct.name] = Versions(min(seen.low, here.low), max(seen.high, here.high))
    return ranges


def _without_unused_imports(text: str) -> str:
    head, rule, body = text.partition("\n\n\n")
    lines = []
    for line in head.split("\n"):
        start, imports, names = line.partition(" import ")
        if imports and start != "from __future__":
            used = [name for name in names.split(", ") if name in _words(body)]
            line = start + imports + ", ".join(used) if used else None  # type: ignore[assignment]  # noqa: PLW2901
        if line is not None:
            lines.append(line)
    return "\n".join(lines) + rule + body


def _words(text: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())


def _literal(kind: str, default: str) -> str:
    if kind == "string":
        return f'"{default}"'
    if kind == "bool":
        return "True" if default == "true" else "False"
    return str(float(default)) if kind == "float64" else str(int(default, 0))


class _Class:
    """Emits one dataclass."""

    def __init__(self, source: Source, message: Message, struct: Struct, versions: Versions) -> None:
        self.source = source
        self.message = message
        self.name = struct.name
        self.versions = versions
        self.is_message = struct is message.struct
        self.fields = [f for f in struct.fields if f.versions & versions]
        self.flexible = condition(message.flexible, versions)

    def emit(self) -> None:
        source = self.source
        source()
        source()
        source("@dataclass(slots=True)")
        with source.block(f"class {self.name}({'WireMessage' if self.is_message else 'WireStruct'})"):
            if self.is_message:
                self._bounds()
            for field in self.fields:
                source(f"{snake(field.name)}: {self._annotation(field)} = {self._class_default(field)}")
            if self.flexible != "False":
                source("unknown_tags: Tags = ()")
            if not self.fields and self.flexible == "False":
                source('"""Nothing but its own existence."""')
            source()
            self._read()
            source()
            self._write()

    def _bounds(self) -> None:
        if self.message.api_key is not None:
            self.source(f"api_key: ClassVar[int] = {self.message.api_key}")
        self.source(f"min_version: ClassVar[int] = {self.message.versions.low}")
        self.source(f"max_version: ClassVar[int] = {self.message.versions.high}")
        self.source()

    # Types and defaults

    def _annotation(self, field: Field) -> str:
        base = field.element if field.struct else _PYTHON_TYPES[field.element]
        kind = f"list[{base}]" if field.is_array else base
        return f"{kind} | None" if self._can_be_null(field) else kind

    def _can_be_null(self, field: Field) -> bool:
        return bool(field.nullable & field.versions & self.versions) or field.type == "records"

    def _default(self, field: Field) -> str:
        """The default as an expression."""
        if field.default == "null":
            return "None"
        if field.is_array:
            return "[]"
        if field.struct:
            return f"{field.struct.name}()"
        if field.default is None:
            return _ZERO.get(field.type, "0")
        return _literal(field.type, field.default)

    def _class_default(self, field: Field) -> str:
        default = self._default(field)
        if default == "[]":
            return "field(default_factory=list)"
        return f"field(default_factory={field.type})" if default.endswith("()") else default

    # Reading

    def _read(self) -> None:
        source = self.source
        source("@classmethod")
        with source.block("def read(cls, reader: Reader, version: int) -> Self"):
            if self.flexible not in ("True", "False"):
                source(f"flexible = {self.flexible}")
            source("self = cls()")
            for field in self.fields:
                self._guarded(self._plain_condition(field), f"self.{snake(field.name)} = {self._read_value(field, '')}")
            if self.flexible == "True":
                self._read_tags()
            elif self.flexible != "False":
                with source.block("if flexible"):
                    self._read_tags()
            source("return self")

    def _guarded(self, when: str, line: str) -> None:
        if when == "True":
            self.source(line)
        elif when != "False":
            with self.source.block(f"if {when}"):
                self.source(line)

    def _plain_condition(self, field: Field) -> str:
        if not field.tagged:
            return condition(field.versions, self.versions)
        if field.tagged.low != field.versions.low:
            raise ValueError(f"{self.name}.{field.name} is tagged in some of its versions only")
        return "False"

    def _read_value(self, field: Field, in_tag: str) -> str:
        """The expression that reads a field from `reader`, or inside a tagged field from `inner`."""
        reader = "inner" if in_tag else "reader"
        flexible = self._flexible_argument(in_tag)
        if field.width:
            return f"{reader}.{_METHODS.get(field.type, field.type)}()"
        if field.struct and not field.is_array:
            self._refuse_nullable_struct(field)
            return f"{field.type}.read({reader}, version)"
        return self._by_nullability(field, lambda prefix: self._read_call(field, reader, prefix, flexible))

    def _read_call(self, field: Field, reader: str, prefix: str, flexible: str) -> str:
        if not field.is_array:
            return f"{reader}.{prefix}{_METHODS.get(field.type, field.type)}({flexible})"
        if field.struct:
            return f"{reader}.{prefix}structs({field.element}, version, {flexible})"
        return f"{reader}.{prefix}array({self._item(field, reader, flexible, '')}, {flexible})"

    def _item(self, field: Field, target: str, flexible: str, argument: str) -> str:
        method = f"{target}.{_METHODS.get(field.element, field.element)}"
        if field.element in ("string", "bytes"):
            call = f"{argument}, {flexible}" if argument else flexible
            return f"lambda{' ' + argument if argument else ''}: {method}({call})"
        return method

    def _flexible_argument(self, in_tag: str) -> str:
        return "True" if in_tag else self.flexible if self.flexible in ("True", "False") else "flexible"

    def _refuse_nullable_struct(self, field: Field) -> None:
        if self._can_be_null(field):
            raise ValueError(f"{self.name}.{field.name}: nullable structs are not generated so far")

    def _by_nullability(self, field: Field, call: object) -> str:
        assert callable(call)
        when = self._null_condition(field)
        if when in ("True", "False"):
            return str(call("nullable_" if when == "True" else ""))
        return f"{call('nullable_')} if {when} else {call('')}"

    def _null_condition(self, field: Field) -> str:
        """When a field may be null, of the versions that have it."""
        return condition(field.nullable, field.versions & self.versions)

    def _tagged(self) -> list[Field]:
        return sorted((f for f in self.fields if f.tagged), key=lambda f: f.tag or 0)

    def _read_tags(self) -> None:
        source = self.source
        if not self._tagged():
            source("self.unknown_tags = reader.tagged_fields()")
            return
        source("unknown = []")
        with source.block("for tag, data in reader.tagged_fields()"):
            source("inner = Reader(data)")
            keyword = "if"
            for field in self._tagged():
                with source.block(f"{keyword} {self._tag_condition(field)}"):
                    source(f"self.{snake(field.name)} = {self._read_value(field, 'tag')}")
                keyword = "elif"
            with source.block("else"):
                source("unknown.append((tag, data))")
                source("continue")
            source("inner.finish()")
        source("self.unknown_tags = tuple(unknown)")

    def _tag_condition(self, field: Field) -> str:
        when = condition(field.versions, self.versions & self.message.flexible)
        return f"tag == {field.tag}" if when == "True" else f"tag == {field.tag} and {when}"

    # Writing

    def _write(self) -> None:
        source = self.source
        with source.block("def write(self, writer: Writer, version: int) -> None"):
            if self.flexible not in ("True", "False"):
                source(f"flexible = {self.flexible}")
            for field in self.fields:
                if not field.tagged:
                    self._write_plain(field)
            if self.flexible == "True":
                self._write_tags()
            elif self.flexible != "False":
                with source.block("if flexible"):
                    self._write_tags()
                self._refuse_tags()
            elif not self.fields:
                source("pass")

    def _write_plain(self, field: Field) -> None:
        when = self._plain_condition(field)
        self._guarded(when, self._write_call(field, ""))
        if when != "True" and not field.ignorable:
            with self.source.block(f"elif {self._is_set(field)}"):
                self.source(f'raise absent("{self.name}.{snake(field.name)}", version)')

    def _is_set(self, field: Field) -> str:
        default = self._default(field)
        operator = "is not" if default == "None" else "!="
        return f"self.{snake(field.name)} {operator} {default}"

    def _write_call(self, field: Field, in_tag: str) -> str:
        writer = "inner" if in_tag else "writer"
        value = f"self.{snake(field.name)}"
        flexible = self._flexible_argument(in_tag)
        if field.width:
            return f"{writer}.{_METHODS.get(field.type, field.type)}({value})"
        if field.struct and not field.is_array:
            return f"{value}.write({writer}, version)"
        return self._by_nullability(field, lambda prefix: self._write_one(field, writer, prefix, flexible))

    def _write_one(self, field: Field, writer: str, prefix: str, flexible: str) -> str:
        value = f"self.{snake(field.name)}"
        if not prefix and self._can_be_null(field):
            value = f'not_null({value}, "{self.name}.{snake(field.name)}", version)'
        if not field.is_array:
            return f"{writer}.{prefix}{_METHODS.get(field.type, field.type)}({value}, {flexible})"
        if field.struct:
            return f"{writer}.{prefix}structs({value}, version, {flexible})"
        return f"{writer}.{prefix}array({value}, {self._item(field, writer, flexible, 'item')}, {flexible})"

    def _write_tags(self) -> None:
        source = self.source
        if not self._tagged():
            source("writer.tagged_fields(self.unknown_tags)")
            return
        source("tags = list(self.unknown_tags)")
        for field in self._tagged():
            when = condition(field.versions, self.versions & self.message.flexible)
            with source.block(f"if {self._is_set(field)}" + ("" if when == "True" else f" and {when}")):
                source("inner = Writer()")
                source(self._write_call(field, "tag"))
                source(f"tags.append(({field.tag}, inner.value()))")
        source("writer.tagged_fields(tags)")

    def _refuse_tags(self) -> None:
        names = ["unknown_tags", *(snake(f.name) for f in self._tagged() if not f.ignorable)]
        tests = ["self.unknown_tags", *(self._is_set(f) for f in self._tagged() if not f.ignorable)]
        for name, test in zip(names, tests, strict=True):
            with self.source.block(f"elif {test}"):
                self.source(f'raise absent("{self.name}.{name}", version)')
