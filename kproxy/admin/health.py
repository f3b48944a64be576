"""`/livez` and `/readyz`, for Kubernetes' probes and for people.

A degraded proxy stays ready: when the brokers are down, every replica is degraded at once, and taking all of them out
of the Service helps nobody. `?strict` is for those who want it otherwise, e.g. a load balancer before several sites.
"""

from __future__ import annotations

from http import HTTPStatus

from kproxy.admin.message import Request, Response, json_response
from kproxy.admin.models import State
from kproxy.admin.parameters import flag
from kproxy.admin.view import View


async def livez(_request: Request, _view: View) -> Response:
    """That this is answered is the proof: the Trio loop runs."""
    return json_response({"state": "alive"})


async def readyz(request: Request, view: View) -> Response:
    readiness = view.readiness()
    serving = {State.READY} if flag(request, "strict") else {State.READY, State.DEGRADED}
    reasons = [{"cluster": cause.cluster, "node": cause.node, "reason": cause.reason} for cause in readiness.reasons]
    status = HTTPStatus.OK if readiness.state in serving else HTTPStatus.SERVICE_UNAVAILABLE
    return json_response({"state": readiness.state, "reasons": reasons}, status)
