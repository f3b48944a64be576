"""Every path of the admin port, and the index page that lists them.

The table is made once, at import. `Connection` looks up each request in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from http import HTTPStatus
from typing import Final

from kproxy import __version__
from kproxy.admin import api, commands, faults, groups, monitoring, telemetry, transactions
from kproxy.admin.dispatch import Handler, Route
from kproxy.admin.message import Request, Response
from kproxy.admin.view import View

_TELEMETRY: Final = "/api/v1/clusters/{cluster}/telemetry"
_FAULTS: Final = "/api/v1/clusters/{cluster}/faults"
_GROUPS: Final = "/api/v1/clusters/{cluster}/groups"
_PAGES: Final = (
    Route(
        "GET", "/metrics", monitoring.metrics, "metrics for Prometheus; OpenMetrics and gzip when asked for", probe=True
    ),
    Route("GET", "/metrics/clients", monitoring.clients, "what clients pushed, for Prometheus; gzip when asked for"),
    Route("GET", "/livez", monitoring.livez, "200 while the process serves", probe=True),
    Route(
        "GET",
        "/readyz",
        monitoring.readyz,
        "200 when ready or degraded, with reasons; ?strict: degraded is 503",
        probe=True,
    ),
    Route("GET", "/api/v1/clusters", api.clusters, "the virtual clusters and their nodes"),
    Route("GET", "/api/v1/clusters/{cluster}", api.cluster, "one of them"),
    Route("GET", "/api/v1/clusters/{cluster}/events", api.events, "what happened to it lately"),
    Route("POST", "/api/v1/reload", commands.reload, "the configuration is read again and applied; says what changed"),
    Route("POST", "/api/v1/clusters/{cluster}/rebootstrap", commands.rebootstrap, "its clients are to bootstrap again"),
    Route(
        "POST",
        "/api/v1/clusters/{cluster}/failover",
        commands.failover,
        'another upstream becomes active; {"to": NAME, "force": true, "dry_run": true}, all may be left out',
    ),
    Route("GET", f"{_TELEMETRY}/subscriptions", telemetry.subscriptions, "what its clients are to push (KIP-714)"),
    Route(
        "PUT",
        f"{_TELEMETRY}/subscriptions/{{name}}",
        telemetry.subscribe,
        'make or replace one; {"metrics": ["*"], "interval_ms": 60000, "match": {"client_id": REGEX}}',
    ),
    Route("DELETE", f"{_TELEMETRY}/subscriptions/{{name}}", telemetry.unsubscribe, "forget one"),
    Route("GET", f"{_TELEMETRY}/instances", telemetry.instances, "clients that asked or pushed; ?limit=N&after=ID"),
    Route("GET", _GROUPS, groups.groups, "the consumer groups that kproxy hosts; ?limit=N&after=ID"),
    Route("GET", f"{_GROUPS}/{{group}}", groups.group, "one of them"),
    Route("GET", f"{_GROUPS}/{{group}}/members", groups.members, "its members; ?limit=N&after=ID"),
    Route("GET", f"{_GROUPS}/{{group}}/lag", groups.lag, "how far its committed offsets are behind; asks the brokers"),
    Route("GET", _FAULTS, faults.rules, "the rules by which faults are injected, for tests"),
    Route(
        "POST",
        _FAULTS,
        faults.add,
        'add one; {"api": "Produce", "client_id": REGEX, "error": NAME, "rate": 0.1, "duration": 300}',
    ),
    Route("GET", f"{_FAULTS}/{{id}}", faults.rule, "one of them, also when it is over"),
    Route("DELETE", _FAULTS, faults.remove_all, "remove all that the configuration does not have"),
    Route("DELETE", f"{_FAULTS}/{{id}}", faults.remove, "remove one"),
    Route("GET", "/api/v1/clients", api.clients, "connected clients; ?cluster=NAME&rebootstrap=no&limit=N&after=NEXT"),
    Route(
        "GET",
        "/api/v1/transactions",
        transactions.transactions,
        "transactional ids; ?cluster=NAME&state=begun&fenced&limit=N&after=NEXT",
    ),
    Route("GET", "/api/v1/connections", api.connections, "client connections; ?cluster=NAME&limit=N&after=ID"),
)


def _line(route: Route) -> str:
    path = escape(route.path)
    shown = f'<a href="{path}">{path}</a>' if route.method == "GET" and "{" not in path else path
    return f"<li>{route.method} {shown}: {escape(route.help)}</li>\n"


def index_of(routes: Sequence[Route]) -> Handler:
    """A handler for a page that lists the routes, as links where a GET needs no name."""
    lines = "".join(_line(route) for route in routes)
    page = f"<!doctype html>\n<title>kproxy</title>\n<h1>kproxy {__version__}</h1>\n<ul>\n{lines}</ul>\n".encode()

    async def index(_request: Request, _view: View) -> Response:
        return Response(HTTPStatus.OK, "text/html; charset=utf-8", page)

    return index


ROUTES: Final = (Route("GET", "/", index_of(_PAGES), "this page", probe=True), *_PAGES)
