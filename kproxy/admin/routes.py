"""Every path of the admin port."""

from __future__ import annotations

from typing import Final

from kproxy.admin import api, clients, health, metrics, orders
from kproxy.admin.dispatch import Route
from kproxy.admin.index import index_of

_PAGES: Final = (
    Route("GET", "/metrics", metrics.metrics, "metrics for Prometheus; OpenMetrics and gzip when asked for"),
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
    Route(
        "GET", "/api/v1/clients", clients.clients, "connected clients; ?cluster=NAME&rebootstrap=no&limit=N&after=NEXT"
    ),
    Route("GET", "/api/v1/connections", api.connections, "client connections; ?cluster=NAME&limit=N&after=ID"),
)

ROUTES: Final = (Route("GET", "/", index_of(_PAGES), "this page"), *_PAGES)
