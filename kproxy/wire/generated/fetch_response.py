"""FetchResponse, versions 0 to 18."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from uuid import UUID
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import ZERO_UUID, Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class EpochEndOffset(WireStruct):
    epoch: int = -1
    end_offset: int = -1
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.epoch = reader.int32()
        self.end_offset = reader.int64()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.epoch)
        writer.int64(self.end_offset)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class LeaderIdAndEpoch(WireStruct):
    leader_id: int = -1
    leader_epoch: int = -1
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.leader_id = reader.int32()
        self.leader_epoch = reader.int32()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.leader_id)
        writer.int32(self.leader_epoch)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class SnapshotId(WireStruct):
    end_offset: int = -1
    epoch: int = -1
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.end_offset = reader.int64()
        self.epoch = reader.int32()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int64(self.end_offset)
        writer.int32(self.epoch)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class AbortedTransaction(WireStruct):
    producer_id: int = 0
    first_offset: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 12
        self = cls()
        self.producer_id = reader.int64()
        self.first_offset = reader.int64()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 12
        writer.int64(self.producer_id)
        writer.int64(self.first_offset)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("AbortedTransaction.unknown_tags", version)


@dataclass(slots=True)
class PartitionData(WireStruct):
    partition_index: int = 0
    error_code: int = 0
    high_watermark: int = 0
    last_stable_offset: int = -1
    log_start_offset: int = -1
    diverging_epoch: EpochEndOffset = field(default_factory=EpochEndOffset)
    current_leader: LeaderIdAndEpoch = field(default_factory=LeaderIdAndEpoch)
    snapshot_id: SnapshotId = field(default_factory=SnapshotId)
    aborted_transactions: list[AbortedTransaction] | None = field(default_factory=list)
    preferred_read_replica: int = -1
    records: bytes | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 12
        self = cls()
        self.partition_index = reader.int32()
        self.error_code = reader.int16()
        self.high_watermark = reader.int64()
        if version >= 4:
            self.last_stable_offset = reader.int64()
        if version >= 5:
            self.log_start_offset = reader.int64()
        if version >= 4:
            self.aborted_transactions = reader.nullable_structs(AbortedTransaction, version, flexible)
        if version >= 11:
            self.preferred_read_replica = reader.int32()
        self.records = reader.nullable_blob(flexible)
        if flexible:
            unknown = []
            for tag, data in reader.tagged_fields():
                inner = Reader(data)
                if tag == 0:
                    self.diverging_epoch = EpochEndOffset.read(inner, version)
                elif tag == 1:
                    self.current_leader = LeaderIdAndEpoch.read(inner, version)
                elif tag == 2:
                    self.snapshot_id = SnapshotId.read(inner, version)
                else:
                    unknown.append((tag, data))
                    continue
                inner.finish()
            self.unknown_tags = tuple(unknown)
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 12
        writer.int32(self.partition_index)
        writer.int16(self.error_code)
        writer.int64(self.high_watermark)
        if version >= 4:
            writer.int64(self.last_stable_offset)
        if version >= 5:
            writer.int64(self.log_start_offset)
        if version >= 4:
            writer.nullable_structs(self.aborted_transactions, version, flexible)
        if version >= 11:
            writer.int32(self.preferred_read_replica)
        elif self.preferred_read_replica != -1:
            raise absent("PartitionData.preferred_read_replica", version)
        writer.nullable_blob(self.records, flexible)
        if flexible:
            tags = list(self.unknown_tags)
            if self.diverging_epoch != EpochEndOffset():
                inner = Writer()
                self.diverging_epoch.write(inner, version)
                tags.append((0, inner.value()))
            if self.current_leader != LeaderIdAndEpoch():
                inner = Writer()
                self.current_leader.write(inner, version)
                tags.append((1, inner.value()))
            if self.snapshot_id != SnapshotId():
                inner = Writer()
                self.snapshot_id.write(inner, version)
                tags.append((2, inner.value()))
            writer.tagged_fields(tags)
        elif self.unknown_tags:
            raise absent("PartitionData.unknown_tags", version)
        elif self.diverging_epoch != EpochEndOffset():
            raise absent("PartitionData.diverging_epoch", version)
        elif self.current_leader != LeaderIdAndEpoch():
            raise absent("PartitionData.current_leader", version)
        elif self.snapshot_id != SnapshotId():
            raise absent("PartitionData.snapshot_id", version)


@dataclass(slots=True)
class FetchableTopicResponse(WireStruct):
    topic: str = ""
    topic_id: UUID = ZERO_UUID
    partitions: list[PartitionData] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 12
        self = cls()
        if version <= 12:
            self.topic = reader.string(flexible)
        if version >= 13:
            self.topic_id = reader.uuid()
        self.partitions = reader.structs(PartitionData, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 12
        if version <= 12:
            writer.string(self.topic, flexible)
        if version >= 13:
            writer.uuid(self.topic_id)
        writer.structs(self.partitions, version, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("FetchableTopicResponse.unknown_tags", version)


@dataclass(slots=True)
class NodeEndpoint(WireStruct):
    node_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.node_id = reader.int32()
        self.host = reader.string(True)
        self.port = reader.int32()
        self.rack = reader.nullable_string(True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.int32(self.node_id)
        writer.string(self.host, True)
        writer.int32(self.port)
        writer.nullable_string(self.rack, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class FetchResponse(WireMessage):
    api_key: ClassVar[int] = 1
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 18

    throttle_time_ms: int = 0
    error_code: int = 0
    session_id: int = 0
    responses: list[FetchableTopicResponse] = field(default_factory=list)
    node_endpoints: list[NodeEndpoint] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 12
        self = cls()
        if version >= 1:
            self.throttle_time_ms = reader.int32()
        if version >= 7:
            self.error_code = reader.int16()
        if version >= 7:
            self.session_id = reader.int32()
        self.responses = reader.structs(FetchableTopicResponse, version, flexible)
        if flexible:
            unknown = []
            for tag, data in reader.tagged_fields():
                inner = Reader(data)
                if tag == 0 and version >= 16:
                    self.node_endpoints = inner.structs(NodeEndpoint, version, True)
                else:
                    unknown.append((tag, data))
                    continue
                inner.finish()
            self.unknown_tags = tuple(unknown)
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 12
        if version >= 1:
            writer.int32(self.throttle_time_ms)
        if version >= 7:
            writer.int16(self.error_code)
        if version >= 7:
            writer.int32(self.session_id)
        elif self.session_id != 0:
            raise absent("FetchResponse.session_id", version)
        writer.structs(self.responses, version, flexible)
        if flexible:
            tags = list(self.unknown_tags)
            if self.node_endpoints != [] and version >= 16:
                inner = Writer()
                inner.structs(self.node_endpoints, version, True)
                tags.append((0, inner.value()))
            writer.tagged_fields(tags)
        elif self.unknown_tags:
            raise absent("FetchResponse.unknown_tags", version)
        elif self.node_endpoints != []:
            raise absent("FetchResponse.node_endpoints", version)
