"""Generates the table of APIs: key, name, versions, first flexible version, whether brokers serve it.

`generate` calls `api_table` once.
"""

from __future__ import annotations

from codegen.schema import OPEN, Message, Schemas
from codegen.source import HEADER, Source


def api_table(schemas: Schemas) -> str:
    """Return the module's text. ValueError when a response has other versions than its request."""
    source = Source()
    source(
        '"""Every API of Kafka\'s: (key, name, min version, max version, first flexible version, served by brokers)."""'
    )
    source(HEADER.format(version=schemas.kafka_version))
    source()
    source("TABLE: tuple[tuple[int, str, int, int, int, bool], ...] = (")
    for request in schemas.of_kind("request"):
        response = schemas.messages[request.name.removesuffix("Request") + "Response"]
        if (request.valid, request.flexible) != (response.valid, response.flexible):
            raise ValueError(f"{request.name} and {response.name} differ in their versions")
        source(f"    {_row(request)},")
    source(")")
    return source.text()


def _row(request: Message) -> str:
    versions = request.versions
    flexible_from = request.flexible.low if request.flexible else OPEN
    name = request.name.removesuffix("Request")
    row = (request.api_key, name, versions.low, versions.high, flexible_from, "broker" in request.listeners)
    return repr(row).replace("'", '"')
