"""Settings of injected faults: what applications under test get in place of a broker's answer.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP. A rule that is added
while kproxy runs is validated in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, model_validator

from kproxy.config.base import ConsistentSettings, Path, Settings, refuse
from kproxy.config.patterns import rule_pattern
from kproxy.config.process import Count, Share
from kproxy.config.units import seconds
from kproxy.wire.apis import APIS
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.generated.error_codes import ErrorCode

API_KEYS: Final[Mapping[str, int]] = MappingProxyType(
    {
        APIS[key].name: int(key)
        for key in (
            ApiKey.PRODUCE,
            ApiKey.FETCH,
            ApiKey.LIST_OFFSETS,
            ApiKey.METADATA,
            ApiKey.OFFSET_COMMIT,
            ApiKey.OFFSET_FETCH,
            ApiKey.FIND_COORDINATOR,
            ApiKey.JOIN_GROUP,
            ApiKey.HEARTBEAT,
            ApiKey.LEAVE_GROUP,
            ApiKey.SYNC_GROUP,
            ApiKey.CREATE_TOPICS,
            ApiKey.DELETE_TOPICS,
            ApiKey.INIT_PRODUCER_ID,
            ApiKey.ADD_PARTITIONS_TO_TXN,
            ApiKey.ADD_OFFSETS_TO_TXN,
            ApiKey.END_TXN,
            ApiKey.TXN_OFFSET_COMMIT,
        )
    }
)
"""The keys of the APIs in which faults can be injected, by name: those whose answers kproxy can make."""
_BY_LOWER_NAME: Final = MappingProxyType({name.lower(): name for name in API_KEYS})
Wait = Annotated[float, seconds(gt=0, le=3600)]
Duration = Annotated[float, seconds(gt=0)]


def _checked_api(name: str) -> str:
    known = _BY_LOWER_NAME.get(name.lower())
    if known is None:
        raise ValueError(f"{name!a}: kproxy makes no answers of this API; it does of {', '.join(API_KEYS)}")
    return known


def _checked_error(name: str) -> str:
    if name in ErrorCode.__members__ and name != ErrorCode.NONE.name:
        return name
    from difflib import get_close_matches  # noqa: PLC0415 - only for what is wrong

    like = get_close_matches(name.upper(), ErrorCode.__members__, 1)
    raise ValueError(f"{name!a} is no error of Kafka{f', but {like[0]} is' if like else ''}: see kproxy errors list")


def _checked_pattern(pattern: str) -> str:
    rule_pattern(pattern)
    return pattern


ApiName = Annotated[str, AfterValidator(_checked_api)]
ErrorName = Annotated[str, AfterValidator(_checked_error)]
Pattern = Annotated[str, AfterValidator(_checked_pattern)]


class FaultRule(Settings):
    """A fault, and whom it hits. It has exactly one of `error`, `delay`, `close` and `half`."""

    api: ApiName = Field(
        description=f"The API whose requests are hit: {', '.join(API_KEYS)}.",
        examples=["Produce"],
    )
    client_id: Pattern | None = Field(
        default=None,
        description="A regex (RE2) that must match the client's whole client.id; without it every client is hit.",
        examples=["orders-.*"],
    )
    software: Pattern | None = Field(
        default=None,
        description="A regex (RE2) that must match the whole name and version of the client's software, as it says "
        "(KIP-511): `apache-kafka-java 4.1.0`. Without it every client is hit.",
        examples=["librdkafka .*"],
    )
    error: ErrorName | None = Field(
        default=None,
        description="kproxy answers with this error, by Kafka's name, and the broker never sees the request.",
        examples=["NOT_LEADER_OR_FOLLOWER"],
    )
    delay: Wait | None = Field(
        default=None,
        description="kproxy holds the request, and what its client sends behind it, for so long; then it goes on. "
        "Seconds, or as 500ms. At most 1h.",
    )
    close: bool = Field(default=False, description="The connection ends when it is the request's turn to be answered.")
    half: ErrorName | None = Field(
        default=None,
        description="The client gets the first half of the answer with this error, then the connection ends.",
        examples=["NOT_LEADER_OR_FOLLOWER"],
    )
    rate: Share = Field(default=1.0, description="The share of requests that are hit, by chance; 1 is all.")
    count: Count | None = Field(default=None, description="The most requests that are hit; without it no limit.")
    duration: Duration | None = Field(
        default=None,
        description="For how long, from when kproxy takes the rule over; without it as long as it is there. Seconds, "
        "or as 5m.",
    )

    @model_validator(mode="after")
    def _is_one_fault(self) -> Self:
        given = [name for name in ("error", "delay", "close", "half") if getattr(self, name)]
        if len(given) != 1:
            found = f"names {' and '.join(given)}" if given else "names no fault"
            refuse([((), f"{found}: give one of error, delay, close and half")])
        return self

    @property
    def api_key(self) -> int:
        """The key of the API."""
        return API_KEYS[self.api]

    @property
    def error_code(self) -> int:
        """Kafka's code of the error that the answer has; 0 where the fault has none."""
        name = self.error or self.half
        return 0 if name is None else ErrorCode[name].value

    @property
    def fault(self) -> str:
        """The kind of the fault: error, delay, close or half."""
        if self.delay is not None:
            return "delay"
        if self.close:
            return "close"
        return "error" if self.half is None else "half"


class Faults(ConsistentSettings):
    """Faults that kproxy injects, for tests of applications: never in production. Off by default."""

    enabled: bool = Field(
        default=False,
        description="Whether faults are injected: those of `rules`, and those of `kproxy faults add`.",
    )
    rules: tuple[FaultRule, ...] = Field(
        default=(),
        description="Faults from the start on; of several that match a request the first one counts. As a "
        "variable: YAML.",
    )
    seed: int | None = Field(
        default=None,
        description="Seeds the chance of `rate`: the same requests in the same order are hit. Without it each start is "
        "different.",
    )

    def _problems(self) -> Iterator[tuple[Path, str]]:
        if self.rules and not self.enabled:
            yield ("rules",), "would do nothing, since faults.enabled is false"
