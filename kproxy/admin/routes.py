"""Every path of the admin port."""

from __future__ import annotations

from typing import Final

from kproxy.admin import api, clients, health, metrics, telemetry
from kproxy.admin import commands as orders
from kproxy.admin.dispatch import Route
from kproxy.admin.index import index_of

_TELEMETRY: Final = "/api/v1/clusters/{cluster}/telemetry"
_PAGES: Final = (
    Route("GET", "/metrics", metrics.metrics, "metrics for Prometheus; OpenMetrics and gzip when asked for"),
    Route("GET", "/metrics/clients", metrics.clients, "what clients pushed, for Prometheus; gzip when asked for"),
    Route("GET", "/livez", health.livez, "200 while the process serves"),
    Route("GET", "/readyz", health.readyz, "200 when ready or degraded, with reasons; ?strict: degraded is 503"),
    Route("GET", "/api/v1/clusters", api.clusters, "the virtual clusters and their nodes"),
    Route("GET", "/api/v1/clusters/{cluster}", api.cluster, "one of them"),
    Route("GET", "/api/v1/clusters/{cluster}/events", api.events, "what happened to it lately"),
    Route("POST", "/api/v1/clusters/{cluster}/rebootstrap", orders.rebootstrap, "its clients are to bootstrap again"),
    Route(
        "POST",
        "/api/v1/clusters/{cluster}/failover",
        orders.failover,
        'another upstream becomes active; {"to": NAME, "force": true}, both may be left out',
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
    Route(
        "GET", "/api/v1/clients", clients.clients, "connected clients; ?cluster=NAME&rebootstrap=no&limit=N&after=NEXT"
    ),
    Route("GET", "/api/v1/connections", api.connections, "client connections; ?cluster=NAME&limit=N&after=ID"),
)

ROUTES: Final = (Route("GET", "/", index_of(_PAGES), "this page"), *_PAGES)
