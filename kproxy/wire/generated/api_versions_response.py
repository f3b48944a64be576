"""ApiVersionsResponse, versions 0 to 5."""
# Made by `python -m codegen` from the message schemas of kafka-clients 4.4.0 and 3.9.2; not to be edited.

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self
from kproxy.wire.message import WireMessage, WireStruct, absent
from kproxy.wire.primitives import Tags
from kproxy.wire.reader import Reader
from kproxy.wire.writer import Writer


@dataclass(slots=True)
class ApiVersion(WireStruct):
    api_key: int = 0
    min_version: int = 0
    max_version: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.api_key = reader.int16()
        self.min_version = reader.int16()
        self.max_version = reader.int16()
        if flexible:
            self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.int16(self.api_key)
        writer.int16(self.min_version)
        writer.int16(self.max_version)
        if flexible:
            writer.tagged_fields(self.unknown_tags)
        elif self.unknown_tags:
            raise absent("ApiVersion.unknown_tags", version)


@dataclass(slots=True)
class SupportedFeatureKey(WireStruct):
    name: str = ""
    min_version: int = 0
    max_version: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.name = reader.string(True)
        self.min_version = reader.int16()
        self.max_version = reader.int16()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.name, True)
        writer.int16(self.min_version)
        writer.int16(self.max_version)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class FinalizedFeatureKey(WireStruct):
    name: str = ""
    max_version_level: int = 0
    min_version_level: int = 0
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        self = cls()
        self.name = reader.string(True)
        self.max_version_level = reader.int16()
        self.min_version_level = reader.int16()
        self.unknown_tags = reader.tagged_fields()
        return self

    def write(self, writer: Writer, version: int) -> None:
        writer.string(self.name, True)
        writer.int16(self.max_version_level)
        writer.int16(self.min_version_level)
        writer.tagged_fields(self.unknown_tags)


@dataclass(slots=True)
class ApiVersionsResponse(WireMessage):
    api_key: ClassVar[int] = 18
    min_version: ClassVar[int] = 0
    max_version: ClassVar[int] = 5

    error_code: int = 0
    api_keys: list[ApiVersion] = field(default_factory=list)
    throttle_time_ms: int = 0
    supported_features: list[SupportedFeatureKey] = field(default_factory=list)
    finalized_features_epoch: int = -1
    finalized_features: list[FinalizedFeatureKey] = field(default_factory=list)
    zk_migration_ready: bool = False
    unknown_tags: Tags = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        flexible = version >= 3
        self = cls()
        self.error_code = reader.int16()
        self.api_keys = reader.structs(ApiVersion, version, flexible)
        if version >= 1:
            self.throttle_time_ms = reader.int32()
        if flexible:
            unknown = []
            for tag, data in reader.tagged_fields():
                inner = Reader(data)
                if tag == 0:
                    self.supported_features = inner.structs(SupportedFeatureKey, version, True)
                elif tag == 1:
                    self.finalized_features_epoch = inner.int64()
                elif tag == 2:
                    self.finalized_features = inner.structs(FinalizedFeatureKey, version, True)
                elif tag == 3:
                    self.zk_migration_ready = inner.boolean()
                else:
                    unknown.append((tag, data))
                    continue
                inner.finish()
            self.unknown_tags = tuple(unknown)
        return self

    def write(self, writer: Writer, version: int) -> None:
        flexible = version >= 3
        writer.int16(self.error_code)
        writer.structs(self.api_keys, version, flexible)
        if version >= 1:
            writer.int32(self.throttle_time_ms)
        if flexible:
            tags = list(self.unknown_tags)
            if self.supported_features != []:
                inner = Writer()
                inner.structs(self.supported_features, version, True)
                tags.append((0, inner.value()))
            if self.finalized_features_epoch != -1:
                inner = Writer()
                inner.int64(self.finalized_features_epoch)
                tags.append((1, inner.value()))
            if self.finalized_features != []:
                inner = Writer()
                inner.structs(self.finalized_features, version, True)
                tags.append((2, inner.value()))
            if self.zk_migration_ready != False:
                inner = Writer()
                inner.boolean(self.zk_migration_ready)
                tags.append((3, inner.value()))
            writer.tagged_fields(tags)
        elif self.unknown_tags:
            raise absent("ApiVersionsResponse.unknown_tags", version)
