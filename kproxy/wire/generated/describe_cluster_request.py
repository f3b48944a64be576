"""DescribeClusterRequest, versions 0 to 2."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class DescribeClusterRequest(WireMessage):
    api_key: ClassVar[int] = 60
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 2

    include_cluster_authorized_operations: bool = False
    endpoint_type: int = 1
    include_fenced_brokers: bool = False
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.include_cluster_authorized_operations = reader.boolean()
        if version >= 1:
            self.endpoint_type = reader.int8()
        if version >= 2:
            self.include_fenced_brokers = reader.boolean()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.boolean(self.include_cluster_authorized_operations)
        if version >= 1:
            writer.int8(self.endpoint_type)
        elif self.endpoint_type != 1:
            raise absent("DescribeClusterRequest.endpoint_type", version)
        if version >= 2:
            writer.boolean(self.include_fenced_brokers)
        elif self.include_fenced_brokers != False:
            raise absent("DescribeClusterRequest.include_fenced_brokers", version)
        writer.tagged_fields(self.unknown_tags)
