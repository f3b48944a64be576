"""`POST /api/v1/reload` and `/api/v1/clusters/{cluster}/…`: an operator's commands to kproxy and a virtual cluster.

The admin port calls one of these handlers for each such request, for instance of `kproxy rebootstrap`.
"""

from __future__ import annotations

from kproxy.admin.api import cluster_name
from kproxy.admin.message import Request, Response, json_fields, json_response
from kproxy.admin.view import View
from kproxy.errors import NotFoundError


async def reload(request: Request, view: View) -> Response:
    """Apply the configuration anew, as at SIGHUP."""
    json_fields(request, {})
    return json_response(await view.reload())


async def rebootstrap(request: Request, view: View) -> Response:
    """Have all clients bootstrap again."""
    name = cluster_name(request, view)
    json_fields(request, {})
    done = await view.rebootstrap(name)
    return json_response({"cluster": done.cluster, "epoch": done.epoch, "connections": done.connections})


async def failover(request: Request, view: View) -> Response:
    """Switch to the upstream `to`, by default the next in order; `force` switches even when it does not answer.

    With `dry_run` nothing changes, and the answer says what would.
    """
    name = cluster_name(request, view)
    fields = json_fields(request, {"to": str, "force": bool, "dry_run": bool})
    to = fields.get("to")
    if to is not None:
        await _check_upstream(view, name, to)
    if fields.get("dry_run", False):
        return json_response(await view.rehearse(name, to))
    return json_response(await view.failover(name, to, fields.get("force", False)))


async def _check_upstream(view: View, cluster: str, upstream: str) -> None:
    names = [each.name for each in (await view.cluster(cluster)).upstreams]
    if upstream not in names:
        raise NotFoundError(f"{cluster} has no upstream {upstream!r}; there are: {', '.join(names)}")
