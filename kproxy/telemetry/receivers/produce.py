"""Produce to one topic, in versions 3 to 8: every broker from Kafka 0.11 to 4.x serves one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final, Self

from kproxy.errors import MalformedMessageError
from kproxy.wire.message import WireMessage
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer

ACKS_ALL: Final = -1


@dataclass(slots=True)
class ProduceRequest(WireMessage):
    """A record batch for each partition, outside of any transaction; the replicas have `timeout_ms` to take them."""

    api_key: ClassVar[int] = 0
    min_version: ClassVar[int] = 3
    max_version: ClassVar[int] = 8

    topic: str
    batches: dict[int, bytes]
    acks: int = ACKS_ALL
    timeout_ms: int = 30_000

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        reader.nullable_string(False)  # the transactional id
        acks, timeout_ms = reader.int16(), reader.int32()
        if reader.int32() != 1:
            raise MalformedMessageError("Produce to more topics than one")
        topic = reader.string(False)
        batches = reader.array(lambda: (reader.int32(), reader.blob(False)), False)
        return cls(topic, dict(batches), acks, timeout_ms)

    def write(self, writer: Writer, version: int) -> None:
        def partition(item: tuple[int, bytes]) -> None:
            writer.int32(item[0])
            writer.blob(item[1], False)

        writer.nullable_string(None, False)
        writer.int16(self.acks)
        writer.int32(self.timeout_ms)
        writer.int32(1)
        writer.string(self.topic, False)
        writer.array(list(self.batches.items()), partition, False)


@dataclass(slots=True)
class ProduceResponse(WireMessage):
    """The error code of each partition, and what the broker says of it (v8)."""

    min_version: ClassVar[int] = ProduceRequest.min_version
    max_version: ClassVar[int] = ProduceRequest.max_version

    topic: str = ""
    errors: dict[int, int] = field(default_factory=dict)
    messages: dict[int, str] = field(default_factory=dict)

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        response = cls()

        def partition() -> None:
            index = reader.int32()
            response.errors[index] = reader.int16()
            reader.int64()  # base offset
            reader.int64()  # time of the append
            if version >= 5:
                reader.int64()  # offset of the log's start
            if version >= 8:
                reader.array(lambda: (reader.int32(), reader.nullable_string(False)), False)
                response.messages[index] = reader.nullable_string(False) or ""

        def topic() -> None:
            response.topic = reader.string(False)
            reader.array(partition, False)

        reader.array(topic, False)
        reader.int32()  # throttle time
        return response

    def write(self, writer: Writer, version: int) -> None:
        def partition(item: tuple[int, int]) -> None:
            index, error = item
            writer.int32(index)
            writer.int16(error)
            writer.int64(-1)
            writer.int64(-1)
            if version >= 5:
                writer.int64(-1)
            if version >= 8:
                writer.int32(0)
                writer.nullable_string(self.messages.get(index), False)

        writer.int32(1)
        writer.string(self.topic, False)
        writer.array(list(self.errors.items()), partition, False)
        writer.int32(0)
