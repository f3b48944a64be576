# This module is pure.
"""What happens to a topology, as events: the log's words become the stream's names and fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kproxy.observe.events import Name

Fields = dict[str, Any]


def told(event: str, fields: Mapping[str, Any], active: str) -> tuple[Name, Fields]:
    """An event of the log, in the stream; `active` is the upstream cluster that is active by then."""
    name, fields_of = _EVENTS[event]
    return name, fields_of(fields, active)


def _rebootstrap(fields: Mapping[str, Any], active: str) -> Fields:
    # `previous` is what `upstream` was, or `cluster_id`.
    switched = "upstream" in fields
    return {
        "cause": fields["cause"],
        "epoch": fields["epoch"],
        "connections": fields["connections"],
        "upstream": active,
        "previous_upstream": fields["previous"] if switched else None,
        "cluster_id": fields.get("cluster_id"),
        "previous_cluster_id": None if switched else fields.get("previous"),
    }


def _changed(fields: Mapping[str, Any], active: str) -> Fields:
    del active
    nodes = {kind: [int(node) for node in fields.get(kind, "").split()] for kind in ("added", "gone", "moved")}
    return {"cluster_id": fields.get("cluster_id"), **nodes}


def _siblings(fields: Mapping[str, Any], active: str) -> Fields:
    del active
    return {"clients": fields["clients"], "seconds": float(fields["seconds"])}


def _passed_over(fields: Mapping[str, Any], active: str) -> Fields:
    return {"upstream": active, "candidate": fields["to"], "detail": fields["why"]}


def _nobody(fields: Mapping[str, Any], active: str) -> Fields:
    del fields
    return {"upstream": active}


_EVENTS: Final[Mapping[str, tuple[Name, Callable[[Mapping[str, Any], str], Fields]]]] = {
    "topology changed": (Name.TOPOLOGY_CHANGED, _changed),
    "clients rebootstrap": (Name.CLIENTS_REBOOTSTRAP, _rebootstrap),
    "clients are sent to siblings": (Name.CLIENTS_SENT_TO_SIBLINGS, _siblings),
    "an upstream cluster is passed over": (Name.UPSTREAM_PASSED_OVER, _passed_over),
    "no upstream cluster answers": (Name.NO_UPSTREAM_ANSWERS, _nobody),
}
KNOWN: Final = frozenset(_EVENTS)
