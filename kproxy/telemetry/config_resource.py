# This module is pure (no I/O, no clock).
"""Subscriptions as Kafka's tools see them: config resources of type CLIENT_METRICS (KIP-714, KIP-1106).

The dialogues of kproxy.telemetry.apis and the admin port call it when somebody describes, lists or alters
subscriptions. If any change of a resource is refused, nothing of the resource changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, Protocol

from kproxy.telemetry.errors import SubscriptionError
from kproxy.telemetry.subscription import INTERVAL_MS, KEYS, MATCH, METRICS, Subscription, as_list
from kproxy.telemetry.subscriptions import Subscriptions
from kproxy.wire.generated.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kproxy.wire.generated.error_codes import ErrorCode

CLIENT_METRICS: Final = 16
"""Kafka's number of the resource type."""
SET, DELETE, APPEND, SUBTRACT = range(4)
"""Operations of IncrementalAlterConfigs."""
MAX_SUBSCRIPTIONS: Final = 1000
"""Each is matched with every kind of client. Brokers set no bound, but few principals may alter their subscriptions."""

_SOURCE_DEFAULT: Final = 5
_SOURCE_CLIENT_METRICS: Final = 7
_TYPE_INT: Final = 3
_TYPE_LIST: Final = 7
_TYPES: Final = {METRICS: _TYPE_LIST, INTERVAL_MS: _TYPE_INT, MATCH: _TYPE_LIST}
_DOCUMENTATION: Final = {
    METRICS: "Prefixes of the names of the metrics that clients push, separated by commas; * is all.",
    INTERVAL_MS: "Milliseconds between two pushes of a client.",
    MATCH: "Which clients push: key=regex, separated by commas; all must match the whole value. Empty is every client.",
}


class Change(NamedTuple):
    """A subscription that changed, to be stored; `subscription` is None if it was deleted."""

    name: str
    subscription: Subscription | None


Keep = Callable[[tuple[Change, ...], Callable[[str | None], None]], None]
"""Stores changes, then calls back with None, or with the reason if a restart will lose them."""


class Alteration(Protocol):
    """One config of a request to alter a resource."""

    name: str
    value: str | None


class Operation(Alteration, Protocol):
    """An `Alteration` with the operation to apply."""

    config_operation: int


def alter_incremental(subscriptions: Subscriptions, name: str, operations: Iterable[Operation]) -> Change | None:
    """Return the change that IncrementalAlterConfigs asks for, without making it; None if nothing changes.

    Raise SubscriptionError as Kafka does: 42 for a repeated key, a null or an unknown operation; 40 for an append to a
    config that is no list.
    """
    operations = list(operations)
    _check(operations, (operation for operation in operations if operation.config_operation != DELETE))
    present = subscriptions.get(name)
    configs = present.configs() if present else {}
    for operation in operations:
        _apply(configs, operation)
    return _change(subscriptions, name, configs)


def alter(subscriptions: Subscriptions, name: str, configs: Iterable[Alteration]) -> Change | None:
    """Return the change that AlterConfigs asks for, without making it. Configs not named go back to their default."""
    configs = list(configs)
    _check(configs, configs)
    return _change(subscriptions, name, {config.name: config.value or "" for config in configs})


def make(subscriptions: Subscriptions, change: Change) -> None:
    """Apply the change; clients learn of it at their next push."""
    if change.subscription is None:
        subscriptions.remove(change.name)
    else:
        subscriptions.put(change.subscription)


def describe(
    subscriptions: Subscriptions,
    name: str,
    keys: Iterable[str] | None,
    *,
    synonyms: bool,
    documentation: bool,
    sources: bool = True,
) -> DescribeConfigsResult:
    """Return the resource with the configs `keys`, or with all; configs that are not set have their default.

    Without `sources`, as in v0, each says only whether it has its default.
    """
    if not name:
        raise SubscriptionError(ErrorCode.INVALID_REQUEST, "a client metrics subscription needs a name")
    present = subscriptions.get(name)
    values = (present or Subscription(name)).values()
    given = present.keys if present else frozenset()
    wanted = set(keys or KEYS)
    configs = [
        DescribeConfigsResourceResult(
            name=key,
            value=values[key],
            read_only=subscriptions.is_fixed(name),
            is_default=not sources and key not in given,
            config_source=_SOURCE_CLIENT_METRICS if key in given else _SOURCE_DEFAULT,
            synonyms=_synonyms(key, values[key]) if synonyms and key in given else [],
            config_type=_TYPES[key],
            documentation=_DOCUMENTATION[key] if documentation else None,
        )
        for key in KEYS
        if key in wanted
    ]
    return DescribeConfigsResult(error_message=None, resource_type=CLIENT_METRICS, resource_name=name, configs=configs)


def list_resources(subscriptions: Subscriptions) -> list[str]:
    """Return the names of all subscriptions, sorted."""
    return [subscription.name for subscription in subscriptions]


def _synonyms(key: str, value: str) -> list[DescribeConfigsSynonym]:
    return [DescribeConfigsSynonym(name=key, value=value, source=_SOURCE_CLIENT_METRICS)]


def _check(all_configs: Iterable[Alteration], with_value: Iterable[Alteration]) -> None:
    names = [config.name for config in all_configs]
    if len(set(names)) < len(names):
        raise SubscriptionError(ErrorCode.INVALID_REQUEST, "a config stands twice in the request")
    if nulls := [config.name for config in with_value if config.value is None]:
        raise SubscriptionError(ErrorCode.INVALID_REQUEST, f"null is no value of {', '.join(nulls)}")


def _apply(configs: dict[str, str], operation: Operation) -> None:
    key, value = operation.name, operation.value or ""
    if operation.config_operation == SET:
        configs[key] = value
    elif operation.config_operation == DELETE:
        configs.pop(key, None)
    elif operation.config_operation not in (APPEND, SUBTRACT):
        raise SubscriptionError(ErrorCode.INVALID_REQUEST, f"unknown operation {operation.config_operation} on {key}")
    elif _TYPES.get(key) != _TYPE_LIST:
        raise SubscriptionError(ErrorCode.INVALID_CONFIG, f"{key} is no list: nothing can be appended or subtracted")
    else:
        configs[key] = ",".join(_combined(configs.get(key, ""), value, operation.config_operation))


def _combined(present: str, value: str, operation: int) -> list[str]:
    old, named = as_list(present), as_list(value)
    if operation == APPEND:
        return list(dict.fromkeys((*old, *named)))
    return [element for element in old if element not in named]


def _change(subscriptions: Subscriptions, name: str, configs: Mapping[str, str]) -> Change | None:
    wanted = Subscription.from_configs(name, configs)
    if subscriptions.is_fixed(name):
        raise SubscriptionError(ErrorCode.POLICY_VIOLATION, f"{name} stands in kproxy's configuration: change it there")
    if not subscriptions.get(name) and len(subscriptions) >= MAX_SUBSCRIPTIONS:
        raise SubscriptionError(
            ErrorCode.POLICY_VIOLATION, f"there are {MAX_SUBSCRIPTIONS} client metrics subscriptions already"
        )
    after = wanted if configs else None
    return None if after == subscriptions.get(name) else Change(name, after)
