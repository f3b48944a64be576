"""Groups that kproxy hosts: when they rebalance, and the events in which kproxy tells of it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Final

from kproxy.demo.fleet.connections import Timed
from kproxy.demo.fleet.curves import DAY
from kproxy.demo.fleet.model import Fleet, Group, Instance, Rebalance
from kproxy.observe.events import GroupTransition

_TOGETHER: Final = 10.0
"""Seconds within which members come and go in one rebalance."""
_SESSION: Final = 45.0
"""The session.timeout.ms of members, in seconds."""
_A_DAY: Final = 0.8
"""Rebalances for other causes than members that come and go, by group and day."""


def usual(fleet: Fleet, group: Group) -> list[Rebalance]:
    """Return the rebalances that a healthy group has: members come and go, and now and then something else."""
    rng = fleet.rng("group", group.id)
    causes = [cause for client in group.members for cause in _memberships(client.id, client.instances)]
    for cause in ("metadata_changed", "session_timeout"):
        if rng.random() < _A_DAY / 2:
            causes.append((rng.uniform(0, DAY), cause, rng.choice(group.members).id))
    causes += [
        (one.at + rng.uniform(2, 30), "metadata_changed", group.members[0].id)
        for one in fleet.incidents
        if one.failover and rng.random() < 0.5
    ]
    return [rebalance(group, rng, *cause) for cause in causes if 0 <= cause[0] < DAY]


def _memberships(client_id: str, instances: Iterable[Instance]) -> Iterator[tuple[float, str, str]]:
    for instance in instances:
        yield instance.began + 1.0, "member_joined", client_id
        if instance.ended is not None and instance.machine_lost:
            yield instance.ended + _SESSION, "session_timeout", client_id
        elif instance.ended is not None:
            yield instance.ended, "member_left", client_id


def rebalance(group: Group, rng: random.Random, at: float, cause: str, client_id: str) -> Rebalance:
    """Return a rebalance that takes a usual time: a second or two, at times more."""
    seconds = rng.uniform(9, 16) if rng.random() < 0.02 else min(rng.lognormvariate(0.5, 0.5), 8.0)
    late = rng.choice(group.members).id
    return Rebalance(at, seconds, cause, client_id, max(group.alive(at), 1), late)


def in_turn(rebalances: Iterable[Rebalance]) -> list[Rebalance]:
    """Return rebalances in order: what comes while a group rebalances, or just after, is part of that."""
    kept: list[Rebalance] = []
    for one in sorted(rebalances, key=lambda one: one.at):
        if not kept or one.at >= kept[-1].at + kept[-1].seconds + _TOGETHER:
            kept.append(one)
    return kept


def events(group: Group) -> Iterator[Timed]:
    """Yield the transitions of a group on the day, in order."""
    stable_since = -DAY
    for generation, one in enumerate(group.rebalances, 100):
        yield from _transitions(group, generation, one, one.at - stable_since)
        stable_since = one.at + one.seconds


def _transitions(group: Group, generation: int, one: Rebalance, stable: float) -> Iterator[Timed]:
    others = dict.fromkeys(client.id for client in group.members if client.id != one.late)
    joining, settling = 0.85 * one.seconds, 0.15 * one.seconds
    stages: tuple[tuple[float, str, str, str, tuple[str, ...], float], ...] = (
        (0.0, "Stable", "PreparingRebalance", one.cause, (), stable),
        (joining, "PreparingRebalance", "CompletingRebalance", "all_joined", (*others, one.late), joining),
        (one.seconds, "CompletingRebalance", "Stable", "assigned", (), settling),
    )
    for after, before, state, cause, waited_for, seconds in stages:
        number = generation + bool(after)
        about = (group.id, number, before, state, cause, one.client_id, one.members, waited_for, round(seconds, 3))
        yield Timed(one.at + after, group.proxy, GroupTransition(*about))
