"""`/api/v1/clusters/{cluster}/groups/…`: the groups that kproxy hosts, and their members.

The admin port calls one of these handlers for each such request, for instance of `kproxy groups`.
"""

from __future__ import annotations

from kproxy.admin.api import DEFAULT_LIMIT, MAX_LIMIT, cluster_name
from kproxy.admin.listing import first_rows, list_body, page_body
from kproxy.admin.message import Request, Response, integer, json_pieces, json_response
from kproxy.admin.models import GroupMemberView, GroupView
from kproxy.admin.view import View


async def groups(request: Request, view: View) -> Response:
    """A page of hosted groups by rising id; `next` is the `after` of the next page, null on the last."""
    name = cluster_name(request, view)
    limit = integer(request, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT)
    found = view.groups(name, request.query.get("after"), limit + 1)
    rows = first_rows(found, limit, _group_place)
    return json_pieces(page_body("groups", rows))


async def group(request: Request, view: View) -> Response:
    """One hosted group."""
    return json_response(view.group(cluster_name(request, view), request.segments["group"]))


async def members(request: Request, view: View) -> Response:
    """A page of a hosted group's members by rising member id; `next` as above."""
    name = cluster_name(request, view)
    limit = integer(request, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT)
    found = view.group_members(name, request.segments["group"], request.query.get("after"), limit + 1)
    rows = first_rows(found, limit, _member_place)
    return json_pieces(page_body("members", rows))


async def lag(request: Request, view: View) -> Response:
    """The partitions of a hosted group, and how many records of each are not committed."""
    found = await view.group_lag(cluster_name(request, view), request.segments["group"])
    return json_pieces(list_body("partitions", found))


def _group_place(group: GroupView) -> str:
    return group.group


def _member_place(member: GroupMemberView) -> str:
    return member.member
