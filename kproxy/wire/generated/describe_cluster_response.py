"""DescribeClusterResponse, versions 0 to 2."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class DescribeClusterBroker(WireStruct):
    broker_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None
    is_fenced: bool = False
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.broker_id = reader.int32()
        self.host = reader.string(True)
        self.port = reader.int32()
        self.rack = reader.nullable_string(True)
        if version >= 2:
            self.is_fenced = reader.boolean()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.broker_id)
        writer.string(self.host, True)
        writer.int32(self.port)
        writer.nullable_string(self.rack, True)
        if version >= 2:
            writer.boolean(self.is_fenced)
        elif self.is_fenced != False:
            raise absent("DescribeClusterBroker.is_fenced", version)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class DescribeClusterResponse(WireMessage):
    api_key: ClassVar[int] = 60
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 2

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    endpoint_type: int = 1
    cluster_id: str = ""
    controller_id: int = -1
    brokers: list[DescribeClusterBroker] = field(default_factory=list)
    cluster_authorized_operations: int = -2147483648
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.throttle_time_ms = reader.int32()
        self.error_code = reader.int16()
        self.error_message = reader.nullable_string(True)
        if version >= 1:
            self.endpoint_type = reader.int8()
        self.cluster_id = reader.string(True)
        self.controller_id = reader.int32()
        self.brokers = reader.structs(DescribeClusterBroker, version, True)
        self.cluster_authorized_operations = reader.int32()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.throttle_time_ms)
        writer.int16(self.error_code)
        writer.nullable_string(self.error_message, True)
        if version >= 1:
            writer.int8(self.endpoint_type)
        elif self.endpoint_type != 1:
            raise absent("DescribeClusterResponse.endpoint_type", version)
        writer.string(self.cluster_id, True)
        writer.int32(self.controller_id)
        writer.structs(self.brokers, version, True)
        writer.int32(self.cluster_authorized_operations)
        writer.tagged_fields(self.unknown_tags)
