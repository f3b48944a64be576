"""AddPartitionsToTxnRequest, versions 0 to 5."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class AddPartitionsToTxnTopic(WireStruct):
    name: str = ""
    partitions: list[int] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.name = reader.string(flexible)
        self.partitions = reader.array(reader.int32, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.string(self.name, flexible)
        writer.array(self.partitions, writer.int32, flexible)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("AddPartitionsToTxnTopic.unknown_tags", version)


@dataclass(slots=True)
class AddPartitionsToTxnTransaction(WireStruct):
    transactional_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    verify_only: bool = False
    topics: list[AddPartitionsToTxnTopic] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.transactional_id = reader.string(True)
        self.producer_id = reader.int64()
        self.producer_epoch = reader.int16()
        self.verify_only = reader.boolean()
        self.topics = reader.structs(AddPartitionsToTxnTopic, version, True)
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.transactional_id, True)
        writer.int64(self.producer_id)
        writer.int16(self.producer_epoch)
        writer.boolean(self.verify_only)
        writer.structs(self.topics, version, True)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class AddPartitionsToTxnRequest(WireMessage):
    api_key: ClassVar[int] = 24
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 5

    transactions: list[AddPartitionsToTxnTransaction] = field(default_factory=list)
    v3_and_below_transactional_id: str = ""
    v3_and_below_producer_id: int = 0
    v3_and_below_producer_epoch: int = 0
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = field(default_factory=list)
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        if version >= 4:
            self.transactions = reader.structs(AddPartitionsToTxnTransaction, version, flexible)
        if version <= 3:
            self.v3_and_below_transactional_id = reader.string(flexible)
        if version <= 3:
            self.v3_and_below_producer_id = reader.int64()
        if version <= 3:
            self.v3_and_below_producer_epoch = reader.int16()
        if version <= 3:
            self.v3_and_below_topics = reader.structs(AddPartitionsToTxnTopic, version, flexible)
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        if version >= 4:
            writer.structs(self.transactions, version, flexible)
        elif self.transactions != []:
            raise absent("AddPartitionsToTxnRequest.transactions", version)
        if version <= 3:
            writer.string(self.v3_and_below_transactional_id, flexible)
        elif self.v3_and_below_transactional_id != "":
            raise absent("AddPartitionsToTxnRequest.v3_and_below_transactional_id", version)
        if version <= 3:
            writer.int64(self.v3_and_below_producer_id)
        elif self.v3_and_below_producer_id != 0:
            raise absent("AddPartitionsToTxnRequest.v3_and_below_producer_id", version)
        if version <= 3:
            writer.int16(self.v3_and_below_producer_epoch)
        elif self.v3_and_below_producer_epoch != 0:
            raise absent("AddPartitionsToTxnRequest.v3_and_below_producer_epoch", version)
        if version <= 3:
            writer.structs(self.v3_and_below_topics, version, flexible)
        elif self.v3_and_below_topics != []:
            raise absent("AddPartitionsToTxnRequest.v3_and_below_topics", version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("AddPartitionsToTxnRequest.unknown_tags", version)
