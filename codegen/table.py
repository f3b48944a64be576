"""Generates the table of APIs: key, name, versions, and what else `kproxy.wire.apis.ApiSpec` has, in its order.

`generate` calls `api_table` once.
"""

from __future__ import annotations

from codegen.extraction import Schemas
from codegen.schema import OPEN, Message
from codegen.source import HEADER, Source


def api_table(schemas: Schemas) -> str:
    """Return the module's text. ValueError when a response has other versions than its request."""
    source = Source()
    source('"""Every API of Kafka\'s, in the order of the fields of `ApiSpec`."""')
    source(HEADER.format(version=schemas.kafka_versions))
    source()
    source("TABLE: tuple[tuple[int, str, int, int, int, bool, int], ...] = (")
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
    broker = "broker" in request.listeners
    row = (request.api_key, name, versions.low, versions.high, flexible_from, broker, request.newest_from)
    return repr(row).replace("'", '"')
