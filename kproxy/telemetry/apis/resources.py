# This module is pure (no I/O, no clock).
"""Requests that name config resources: those of type CLIENT_METRICS are the proxy's, the rest are the broker's.

The dialogues of kproxy.telemetry.apis.alter_configs and describe_configs call it for each request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias, TypeVar

from kproxy.telemetry.apis.dialogue import UNANSWERED, Refusal
from kproxy.telemetry.config_resource import CLIENT_METRICS, Change, make
from kproxy.telemetry.errors import SubscriptionError
from kproxy.telemetry.subscriptions import Subscriptions
from kproxy.wire.generated.error_codes import ErrorCode

Key: TypeAlias = tuple[int, str]

_TWICE: Final = Refusal(ErrorCode.INVALID_REQUEST, "each resource must stand in a request once at most")
_FORGOTTEN: Final = Refusal(ErrorCode.UNKNOWN_SERVER_ERROR, "the broker's response lacks this resource")


class Resource(Protocol):
    """A resource of a request, or its result."""

    resource_type: int
    resource_name: str


R = TypeVar("R", bound=Resource)
A = TypeVar("A", bound=Resource)


def key_of(resource: Resource) -> Key:
    """Return the key that a result is found by."""
    return resource.resource_type, resource.resource_name


def split(resources: Iterable[R]) -> tuple[list[R], list[R]]:
    """Return the proxy's resources and the broker's."""
    resources = list(resources)
    own = [resource for resource in resources if resource.resource_type == CLIENT_METRICS]
    return own, [resource for resource in resources if resource.resource_type != CLIENT_METRICS]


def merged(
    resources: Iterable[Resource],
    own: Mapping[Key, A],
    theirs: Sequence[A] | None,
    failed: Callable[[Resource, Refusal], A],
) -> list[A]:
    """Return a result for every resource, in the request's order; `theirs` is None if the broker did not answer."""
    found = dict(own) | {key_of(result): result for result in theirs or ()}
    why = UNANSWERED if theirs is None else _FORGOTTEN
    return [found.get(key_of(resource)) or failed(resource, why) for resource in resources]


def alter_all(
    subscriptions: Subscriptions,
    own: Sequence[R],
    refusal: Refusal | None,
    validate_only: bool,
    change_of: Callable[[R], Change | None],
) -> tuple[dict[Key, Refusal | None], tuple[Change, ...]]:
    """Alter the proxy's resources. Return their refusals and all changes; with `validate_only` nothing changes."""
    verdicts: dict[Key, Refusal | None] = {}
    changes: list[Change] = []
    times = Counter(key_of(resource) for resource in own)
    for resource in own:
        verdict, change = refusal, None
        if verdict is None and times[key_of(resource)] > 1:
            verdict = _TWICE
        if verdict is None:
            verdict, change = _tried(resource, change_of)
        if change is not None and not validate_only:
            make(subscriptions, change)
            changes.append(change)
        verdicts[key_of(resource)] = verdict
    return verdicts, tuple(changes)


def _tried(resource: R, change_of: Callable[[R], Change | None]) -> tuple[Refusal | None, Change | None]:
    try:
        return None, change_of(resource)
    except SubscriptionError as error:
        return Refusal(error.code, error.message), None
