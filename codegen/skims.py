"""Generates the module of skims: a function for each layout of a response with addresses, and the plans of streams.

`generate` calls `skims` once. A skim is a walk over a response that finds its addresses without decoding it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from codegen.addresses import GLANCED, STREAMED, STREAMED_REQUESTS, carries, is_host, left_alone
from codegen.extraction import Schemas
from codegen.names import snake
from codegen.schema import Field, Message
from codegen.source import Source, compiled_module
from codegen.streams import request_stream, stream
from codegen.walks import Walk

_DOC: Final = (
    '"""Walks over responses that carry addresses, what is at fixed places, and the plans of streamed messages."""'
)
_IMPORTS: Final = (
    "from __future__ import annotations",
    "",
    "from kproxy.wire.address import BROKER, COMPACT_INT32, COMPACT_UINT16, CONTROLLER, STRING_INT32, Address",
    "from kproxy.wire.primitives import Buffer, int16_at, int32_at, uint16_at",
    "from kproxy.wire.walk import (",
    "    ARRAY, BLOB, RUN, BytesWalk, Step, StreamLayout, WalkFunction, no_length, not_at_end, skip_tags, uvarint_at,",
    ")",
)
_PREFIX: Final = "PREFIX"
SIGNATURE: Final = "(buf: Buffer, pos: int, end: int, addresses: list[Address], errors: list[int]) -> int"
_OF_BYTES: Final = SIGNATURE.replace("Buffer", "bytes")


def skims(schemas: Schemas) -> str:
    """Return the module's text."""
    source = compiled_module(_DOC, schemas.kafka_versions, _IMPORTS)
    table: dict[tuple[int, int], str] = {}
    of_bytes: dict[tuple[int, int], str] = {}
    layouts: dict[tuple[int, int], str] = {}
    for response in schemas.of_kind("response"):
        functions(source, response, table, SIGNATURE, wanted=carries_addresses, made=_body)
        if response.name in GLANCED:
            functions(source, response, of_bytes, _OF_BYTES, wanted=carries_addresses, made=_body, suffix="_in_bytes")
        if response.name in STREAMED:
            carriers = [version for version in response.versions if carries_addresses(response, version)]
            _layouts(source, response, layouts, carriers, stream)
    requests: dict[tuple[int, int], str] = {}
    for request in schemas.of_kind("request"):
        if request.name in STREAMED_REQUESTS:
            _layouts(source, request, requests, request.valid, request_stream)
    source()
    source.table("SKIMS: dict[tuple[int, int], WalkFunction]", table)
    source.table("IN_BYTES: dict[tuple[int, int], BytesWalk]", of_bytes)
    source.table("STREAMS: dict[tuple[int, int], StreamLayout]", layouts)
    source.table("REQUEST_STREAMS: dict[tuple[int, int], tuple[Step, ...]]", requests)
    _errors(source, schemas)
    _throttles(source, schemas)
    return source.text()


def carries_addresses(message: Message, version: int) -> bool:
    """Return True when this version of a response has an address to replace."""
    return any(version in field.versions for field in _carriers(message))


def _carriers(message: Message) -> list[Field]:
    """Return the top-level fields of a response that are, or contain, an address."""
    fields = message.struct.fields
    hosts = [f for f in fields if is_host(message.struct, f) and not left_alone(f"{message.name}.{f.name}")]
    return hosts + [f for f in fields if carries(f, f"{message.name}.{f.name}")]


def functions(
    source: Source,
    message: Message,
    table: dict[tuple[int, int], str],
    signature: str,
    *,
    wanted: Callable[[Message, int], bool],
    made: Callable[[Message, int], str],
    suffix: str = "",
) -> None:
    """Emit a function, whose body is `made`, for each run of versions with the same layout that is `wanted`."""
    name = last = ""
    for version in message.versions:
        if not wanted(message, version):
            continue
        body = made(message, version)
        if body != last:
            name, last = f"{snake(message.name)}_v{version}{suffix}", body
            source()
            source()
            with source.block(f"def {name}{signature}"):
                source.lines(body)
        table[message.api_key or 0, version] = name


def _body(message: Message, version: int) -> str:
    """Return the walk up to the last field with an address; it includes tagged fields that follow directly."""
    source = Source()
    walk = Walk(source, message, version)
    plain = message.struct.plain(version)
    wanted = [field for field in _carriers(message) if version in field.versions]
    end = max((plain.index(f) + 1 + is_host(message.struct, f) for f in wanted if f in plain), default=len(plain))
    walk.plain(message.struct, plain[:end], message.name)
    if end == len(plain):
        walk.tags(message.struct, message.name)
    walk.settle()
    source("return pos")
    return source.text()


def _layouts(
    source: Source,
    message: Message,
    layouts: dict[tuple[int, int], str],
    versions: Iterable[int],
    layout: Callable[[Message, int, str], str],
) -> None:
    """Emit a plan for each run of versions with the same layout."""
    name = last = ""
    for version in versions:
        text = layout(message, version, _PREFIX)
        if text != last:
            name, last = f"{snake(message.name)}_v{version}", text
            source.lines(text.replace(_PREFIX, name))
        layouts[message.api_key or 0, version] = f"{name}_layout"


def _errors(source: Source, schemas: Schemas) -> None:
    source()
    source("# api key -> (first version, last version, offset of the top-level error code from the body's start)")
    source("ERROR_OFFSETS: dict[int, tuple[tuple[int, int, int], ...]] = {")
    for response in schemas.of_kind("response"):
        if ranges := _error_offsets(response):
            source(f"    {response.api_key}: {ranges},")
    source("}")


def _throttles(source: Source, schemas: Schemas) -> None:
    source()
    source("# api key -> the first version whose response begins with throttle_time_ms")
    source("THROTTLE_FIRST: dict[int, int] = {")
    for response in schemas.of_kind("response"):
        told = [version for version in response.valid if response.struct.plain(version)[:1] == throttle_of(response)]
        if told:
            source(f"    {response.api_key}: {told[0]},")
    source("}")


def throttle_of(response: Message) -> list[Field]:
    """Return the response's field that tells the throttle time, where it has one."""
    return [field for field in response.struct.fields if field.name == "ThrottleTimeMs"]


def _error_offsets(message: Message) -> tuple[tuple[int, int, int], ...]:
    ranges: list[tuple[int, int, int]] = []
    for version in message.valid:
        offset = error_offset(message, version)
        if offset is None:
            continue
        if ranges and ranges[-1][1:] == (version - 1, offset):
            ranges[-1] = (ranges[-1][0], version, offset)
        else:
            ranges.append((version, version, offset))
    return tuple(ranges)


def error_offset(message: Message, version: int) -> int | None:
    """Return the offset of the top-level error code in a body; None when there is none at a fixed place."""
    offset = 0
    for field in message.struct.plain(version):
        if field.name == "ErrorCode" and field.type == "int16":
            return offset
        if field.width is None:
            return None
        offset += field.width
    return None
