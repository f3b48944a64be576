"""AddPartitionsToTxnResponse, versions 0 to 5."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class AddPartitionsToTxnPartitionResult(WireStruct):
    partition_index: int = 0
    partition_error_code: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.partition_index = reader.int32()
        self.partition_error_code = reader.int16()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.int32(self.partition_index)
        writer.int16(self.partition_error_code)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("AddPartitionsToTxnPartitionResult.unknown_tags", version)


@dataclass(slots=True)
class AddPartitionsToTxnTopicResult(WireStruct):
    name: str = ""
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.name = reader.string(flexible)
        self.results_by_partition = reader.structs(AddPartitionsToTxnPartitionResult, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.string(self.name, flexible)
        writer.structs(self.results_by_partition, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("AddPartitionsToTxnTopicResult.unknown_tags", version)


@dataclass(slots=True)
class AddPartitionsToTxnResult(WireStruct):
    transactional_id: str = ""
    topic_results: list[AddPartitionsToTxnTopicResult] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.transactional_id = reader.string(True)
        self.topic_results = reader.structs(AddPartitionsToTxnTopicResult, version, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.transactional_id, True)
        writer.structs(self.topic_results, version, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class AddPartitionsToTxnResponse(WireMessage):
    api_key: ClassVar[int] = 24
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 5

    throttle_time_ms: int = 0
    error_code: int = 0
    results_by_transaction: list[AddPartitionsToTxnResult] = field(default_factory=list)
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.throttle_time_ms = reader.int32()
        if version >= 4:
            self.error_code = reader.int16()
        if version >= 4:
            self.results_by_transaction = reader.structs(AddPartitionsToTxnResult, version, flexible)
        if version <= 3:
            self.results_by_topic_v3_and_below = reader.structs(AddPartitionsToTxnTopicResult, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.int32(self.throttle_time_ms)
        if version >= 4:
            writer.int16(self.error_code)
        if version >= 4:
            writer.structs(self.results_by_transaction, version, flexible)
        elif self.results_by_transaction != []:
            raise absent("AddPartitionsToTxnResponse.results_by_transaction", version)
        if version <= 3:
            writer.structs(self.results_by_topic_v3_and_below, version, flexible)
        elif self.results_by_topic_v3_and_below != []:
            raise absent("AddPartitionsToTxnResponse.results_by_topic_v3_and_below", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("AddPartitionsToTxnResponse.unknown_tags", version)
