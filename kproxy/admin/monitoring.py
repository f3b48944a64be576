"""Probes and scrapes: `/livez`, `/readyz`, `/metrics` and `/metrics/clients`.

The admin port calls one of these handlers for each request to its path, as the kubelet and Prometheus send them.

A degraded proxy stays ready: when the brokers are down, every replica is degraded at once, and taking all of them out
of the Service helps nobody. `?strict` makes degraded unready, e.g. for a load balancer in front of several sites.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from http import HTTPStatus
from typing import Final

import trio

from kproxy.admin.message import HttpError, Request, Response, flag, json_response, wants_gzip, wants_openmetrics
from kproxy.admin.models import Cause, State
from kproxy.admin.shared_page import SharedPage
from kproxy.admin.view import View
from kproxy.observe.counters import Counters

# One at a time: two rendering threads would only take the interpreter from the relay, and be no faster.
_PAGES: Final = SharedPage[tuple[str, bytes]]()


async def livez(_request: Request, _view: View) -> Response:
    """Any answer proves that the Trio loop runs."""
    return json_response({"state": "alive"})


async def readyz(request: Request, view: View) -> Response:
    """The state with its reasons; 503 unless the state counts as ready."""
    readiness = view.readiness()
    serving = {State.READY} if flag(request, "strict") else {State.READY, State.DEGRADED}
    status = HTTPStatus.OK if readiness.state in serving else HTTPStatus.SERVICE_UNAVAILABLE
    said = {"reasons": readiness.reasons} | ({"warnings": readiness.warnings} if readiness.warnings else {})
    return json_response({"state": readiness.state} | {name: _shown(causes) for name, causes in said.items()}, status)


def _shown(causes: Iterable[Cause]) -> list[dict[str, str | int | None]]:
    return [{"cluster": cause.cluster, "node": cause.node, "reason": cause.reason} for cause in causes]


async def metrics(request: Request, view: View) -> Response:
    """The proxy's metrics, rendered in a thread: thousands of series take 100 ms and more."""
    compress = wants_gzip(request.headers.get("accept-encoding", ""))
    as_openmetrics = wants_openmetrics(request.headers.get("accept", ""))

    async def render() -> tuple[str, bytes]:
        counters = await view.count()
        work = partial(_render, counters, as_openmetrics=as_openmetrics, compress=compress)
        return await trio.to_thread.run_sync(work)

    content_type, page = await _PAGES.get((id(view), as_openmetrics, compress), render)
    headers = {"Vary": "Accept, Accept-Encoding"} | ({"Content-Encoding": "gzip"} if compress else {})
    return Response(HTTPStatus.OK, content_type, page, headers)


def _render(counters: Counters, *, as_openmetrics: bool, compress: bool) -> tuple[str, bytes]:
    # Imported at the first scrape, in the thread: 3 MB and 50 ms that the start does not need.
    from kproxy.observe.prometheus import registry_for, render  # noqa: PLC0415

    return render(registry_for(counters), as_openmetrics=as_openmetrics, compress=compress)


async def clients(request: Request, view: View) -> Response:
    """The metrics that clients pushed, added up (KIP-714); 404 without a Prometheus receiver."""
    compress = wants_gzip(request.headers.get("accept-encoding", ""))
    found = await view.clients_page(compress)
    if found is None:
        reason = "no virtual cluster's telemetry goes to a receiver of type prometheus: see `receivers` and `telemetry`"
        raise HttpError(HTTPStatus.NOT_FOUND, f"{reason} in the configuration")
    headers = {"Vary": "Accept-Encoding"} | ({"Content-Encoding": "gzip"} if compress else {})
    return Response(HTTPStatus.OK, *found, headers)
