"""Generates the enums of Kafka's API keys and error codes.

`generate` calls each of its functions once.
"""

from __future__ import annotations

from codegen.extraction import Schemas
from codegen.names import constant
from codegen.source import HEADER, Source
from kproxy.errors.kip_1050 import of_code
from kproxy.markers import PURE, first_line


def api_keys(schemas: Schemas) -> str:
    """Return the text of the module of `ApiKey`."""
    source = _head(schemas, "Kafka's API keys by name.")
    source()
    source("from enum import IntEnum")
    source()
    source()
    with source.block("class ApiKey(IntEnum)"):
        source('"""The number that a request begins with."""')
        source()
        for request in schemas.of_kind("request"):
            source(f"{constant(request.name.removesuffix('Request'))} = {request.api_key}")
    return source.text()


def error_codes(schemas: Schemas) -> str:
    """Return the text of the module of `ErrorCode`."""
    source = _head(schemas, "Kafka's error codes by name, each with its KIP-1050 class.")
    source()
    source("from __future__ import annotations")
    source()
    source("from enum import IntEnum")
    source()
    source("from kproxy.errors import ErrorClass")
    source()
    source()
    with source.block("class ErrorCode(IntEnum)"):
        source.lines(_MEMBER)
        source()
        for error in schemas.errors:
            error_class = of_code(error.code)
            source(f"{error.name} = {error.code}, ErrorClass.{error_class.name}, {error.retriable}")
    return source.text()


_MEMBER = '''\
"""The number that stands in a response's error field."""

error_class: ErrorClass
"""What a client does about it; 48 INVALID_TXN_STATE is abortable in a Produce response."""
retriable: bool
"""Whether its Java exception is a `RetriableException`."""

def __new__(cls, code: int, error_class: ErrorClass, retriable: bool) -> ErrorCode:
    member = int.__new__(cls, code)
    member._value_ = code
    member.error_class = error_class
    member.retriable = retriable
    return member
'''


def _head(schemas: Schemas, docstring: str) -> Source:
    source = Source()
    source(first_line(PURE))
    source(f'"""{docstring}"""')
    source(HEADER.format(version=schemas.kafka_versions))
    return source
