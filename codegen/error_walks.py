"""Generates the module of error walks: a function for each layout of a response that may have several error codes.

`generate` calls `error_walks` once. An error walk finds all error codes of a response, and the topic and the group that
each is about, without decoding the rest. Responses whose only code is at a fixed place have an offset in `skims`.
"""

from __future__ import annotations

from typing import Final

from codegen.extraction import Schemas
from codegen.schema import Field, Message, Struct
from codegen.skims import error_offset, functions
from codegen.source import Source, compiled_module
from codegen.walks import Walk

_DOC: Final = '"""Walks over responses that note all error codes, and where the names are that they are about."""'
_IMPORTS: Final = (
    "from __future__ import annotations",
    "",
    "from kproxy.wire.primitives import Buffer, int16_at, int32_at",
    "from kproxy.wire.walk import ErrorFunction, Found, no_length, not_at_end, skip_tags, uvarint_at",
)
_SIGNATURE: Final = "(buf: Buffer, pos: int, end: int, errors: list[Found]) -> int"
TOPICS: Final = ("Name", "Topic", "TopicName")
GROUPS: Final = ("GroupId",)
_NONE: Final = "0"


def error_walks(schemas: Schemas) -> str:
    """Return the module's text."""
    source = compiled_module(_DOC, schemas.kafka_versions, _IMPORTS)
    table: dict[tuple[int, int], str] = {}
    served = {request.api_key for request in schemas.of_kind("request") if "broker" in request.listeners}
    for response in schemas.of_kind("response"):
        if response.api_key in served:
            functions(source, response, table, _SIGNATURE, wanted=needs_walk, made=_body)
    source.table("ERROR_WALKS: dict[tuple[int, int], ErrorFunction]", table)
    return source.text()


def needs_walk(message: Message, version: int) -> bool:
    """Return True when a response has an error code in another place than the fixed one at its top level."""
    told = [field for field in message.struct.fields if version in field.versions and _answers(field, version)]
    fixed = error_offset(message, version) is not None
    return len(told) > fixed


def _body(message: Message, version: int) -> str:
    """Return the walk up to the last field that is or has an error code."""
    source = Source()
    walk = ErrorWalk(source, message, version)
    plain = message.struct.plain(version)
    last = max(number for number, field in enumerate(plain) if _answers(field, version))
    walk.plain(message.struct, plain[: last + 1], message.name)
    walk.settle()
    source("return pos")
    return source.text()


def _is_code(field: Field) -> bool:
    return field.type == "int16" and field.name.endswith("ErrorCode")


def _answers(field: Field, version: int) -> bool:
    """Return True for an error code, and for a field with one in it."""
    if version not in field.versions:
        return False
    return _is_code(field) or (field.struct is not None and any(_answers(f, version) for f in field.struct.fields))


class ErrorWalk(Walk):
    """Emits code that notes each error code with the positions of its topic and its group, 0 for none."""

    def __init__(self, source: Source, message: Message, version: int) -> None:
        super().__init__(source, message, version)
        self._about = {"topic": _NONE, "group": _NONE}  # kind -> the variable with the position of the name
        self._ahead: list[Field] = []  # the fields of the present struct that are still to come
        self._waiting: list[str] = []  # variables with positions of codes that come before their name

    def is_host(self, struct: Struct, field: Field) -> bool:
        """Return False: no address is noted."""
        return False

    def carries(self, field: Field, path: str) -> bool:
        """Return True when a tagged field is or has an error code."""
        return _answers(field, self.version)

    def struct(self, struct: Struct, path: str) -> None:
        """Walk over a whole struct; what it names is what its own codes, and those in it, are about."""
        around = self._about, self._ahead
        self._about = dict(self._about)
        super().struct(struct, path)
        self._about, self._ahead = around

    def plain(self, struct: Struct, fields: list[Field], path: str) -> None:
        """Walk over fields in order."""
        tells = any(_answers(field, self.version) for field in struct.fields)
        for number, field in enumerate(fields):
            self._ahead = fields[number + 1 :]
            if tells and _kind(field):
                self._name(_kind(field))
            self.field(field, f"{path}.{field.name}")

    def _name(self, kind: str) -> None:
        variable = self._about[kind] = f"{kind}{self._depth}"
        self.source(f"{variable} = {self.at()}")
        for code in self._waiting:
            self._note(code, f"{code} + 1")
        self._waiting = []

    def _fixed(self, field: Field) -> None:
        if _is_code(field) and any(_kind(later) for later in self._ahead):
            code = f"code{len(self._waiting)}"
            self.source(f"{code} = {self.at()}")
            self._waiting.append(code)
        elif _is_code(field):
            self._note(self.at(), self.at(1))
        self.offset += field.width or 0

    def _note(self, first: str, second: str) -> None:
        with self.source.block(f"if buf[{first}] or buf[{second}]"):
            self.source(f"errors.append((int16_at(buf, {first})[0], {self._about['topic']}, {self._about['group']}))")


def _kind(field: Field) -> str:
    """Return "topic" or "group" for a field that names one, else ""."""
    if field.type != "string":
        return ""
    return "topic" if field.name in TOPICS else "group" if field.name in GROUPS else ""
