"""`/api/v1/clusters/{cluster}/faults`: the rules by which faults are injected, for tests of applications.

The admin port calls one of these handlers for each such request, for instance of `kproxy faults`.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from kproxy.admin.api import cluster_name
from kproxy.admin.listing import list_body
from kproxy.admin.message import HttpError, Request, Response, json_fields, json_pieces, json_response
from kproxy.admin.view import View

_FIELDS: Final = {
    "api": str,
    "client_id": str,
    "software": str,
    "error": str,
    "delay": float,
    "close": bool,
    "half": str,
    "rate": float,
    "count": int,
    "duration": float,
}
_LONGEST_NUMBER: Final = 18


async def rules(request: Request, view: View) -> Response:
    """All rules, in their order."""
    return json_pieces(list_body("faults", view.fault_rules(cluster_name(request, view))))


async def rule(request: Request, view: View) -> Response:
    """One rule, also when it is over."""
    return json_response(view.fault_rule(cluster_name(request, view), _number(request)))


async def add(request: Request, view: View) -> Response:
    """Add a rule behind all others."""
    name = cluster_name(request, view)
    return json_response(view.add_fault_rule(name, json_fields(request, _FIELDS)))


async def remove(request: Request, view: View) -> Response:
    """Remove a rule."""
    name = cluster_name(request, view)
    json_fields(request, {})
    return json_response({"cluster": name, "removed": view.remove_fault_rules(name, _number(request))})


async def remove_all(request: Request, view: View) -> Response:
    """Remove all rules that the configuration does not have."""
    name = cluster_name(request, view)
    json_fields(request, {})
    return json_response({"cluster": name, "removed": view.remove_fault_rules(name, None)})


def _number(request: Request) -> int:
    text = request.segments["id"]
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER):
        raise HttpError(HTTPStatus.BAD_REQUEST, f"{text!r} is no number of a rule")
    return int(text)
