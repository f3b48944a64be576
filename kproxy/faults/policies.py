# This module is pure (no I/O, no clock).
"""The api policies of injected faults: a request that a rule hits takes a detour, all others pass as ever.

A virtual cluster has them if its `faults.enabled` is set; `kproxy.cluster.policies` composes them with those of other
rooms. The relay asks `choose` at the beginning of each request of these APIs, and holds only those that are answered.

The broker never sees a request that kproxy answers, or that ends its connection. Responses that the client still waits
for go out first: the fault comes when it is the request's turn. A connection of an earlier epoch is spared, and so is a
client that is notified to bootstrap again: rebootstrap comes first.

Produce with acks=0 has no answer. Where an error would be injected, the request is dropped without one, so its records
are lost as at a broker that fails: the client cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Final

from kproxy.config.faults import API_KEYS
from kproxy.faults.answers import Scene, Unanswerable, answer
from kproxy.observe.reasons import Reason
from kproxy.protocol.answer import response_frame
from kproxy.protocol.api_table import ApiPolicy, Detour
from kproxy.protocol.outcomes import Answer, Hold
from kproxy.wire.generated.api_keys import ApiKey
from kproxy.wire.header import decode_request_header

if TYPE_CHECKING:
    from kproxy.faults.rules import Rule, Rules
    from kproxy.protocol.context import Context

Injected = Callable[["Context", "Rule", int], None]
"""Takes note of a fault: of which rule, in a request of which version."""
_VERSION: Final = Struct(">2xh")


def policies(rules: Rules, injected: Injected) -> Mapping[int, ApiPolicy]:
    """Return the policies of one virtual cluster, by api key."""
    return {key: ApiPolicy(detour=partial(choose, rules, injected, key)) for key in API_KEYS.values()}


def choose(rules: Rules, injected: Injected, key: int, context: Context, version: int) -> Detour | None:
    """Return what is done with a request that begins; None where no rule hits it."""
    if context.stale:
        return None
    rule = rules.hit(key, context.client_id, context.software)
    if rule is None:
        return None
    if rule.settings.delay is not None:
        injected(context, rule, version)
        return Detour(hold=Hold(rule.settings.delay))
    return Detour(request=partial(_end if rule.settings.close else _answer, rule, injected), spared=rule.spare)


def _end(rule: Rule, injected: Injected, context: Context, frame: memoryview) -> Answer:
    (version,) = _VERSION.unpack_from(frame)
    injected(context, rule, version)
    return Answer(b"", Reason.FAULT_INJECTED, _detail(rule))


def _answer(rule: Rule, injected: Injected, context: Context, frame: memoryview) -> Answer | None:
    """Return the answer with the rule's error, or half of it; None where the request's version has no place for one."""
    header, _ = decode_request_header(frame, 0, len(frame))
    found = answer(frame, rule.settings.error_code, _scene(context, header.api_key))
    if isinstance(found, Unanswerable):
        if not found.wants_none:
            rule.spare()
            return None
        whole = b""
    else:
        whole = response_frame(header, found)
    injected(context, rule, header.api_version)
    if rule.settings.half is None:
        return Answer(whole)
    return Answer(whole[: len(whole) // 2], Reason.FAULT_INJECTED, _detail(rule))


def _scene(context: Context, key: int) -> Scene:
    """Return what a Metadata answer names: looking at nodes binds their ports, so no other answer does."""
    if key != ApiKey.METADATA:
        return Scene()
    return Scene(context.cluster.brokers(context.local_host), context.cluster.cluster_id)


def _detail(rule: Rule) -> str:
    return f"rule {rule.number} of the injected faults: {rule.settings.fault}"
