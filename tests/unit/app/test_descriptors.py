"""A process without descriptors: that is its own trouble, and no reason to give up a healthy upstream."""

from __future__ import annotations

import http.client
import json
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import trio

from tests.support import proc
from tests.support.proxy import Proxy
from tests.support.wait import until
from tests.unit.app.living import HOST, brokers

SPARE = 7
CLIENTS = 12
HELD = 7.0
"""Seconds of a shortage. A failover is looked for every second, so it would come before the next poll that succeeds:
polls that fail come ever more seldom.
"""
OUT = "out of descriptors: raise ulimit -n"


@contextmanager
def used_up(proxy: Proxy) -> Iterator[None]:
    """Hold so many connections that kproxy has no descriptor left: silent ones, for which it dials no broker."""
    with ExitStack() as held:
        for _ in range(CLIENTS):
            held.enter_context(socket.create_connection((HOST, proxy.port())))
        yield


def goes_through_shortages(proxy: Proxy) -> None:
    """Use up the descriptors for a while, several times; ask a connection to the admin port that was there before."""
    admin = http.client.HTTPConnection(HOST, proxy.admin_port, timeout=10)

    def readiness() -> Any:
        admin.request("GET", "/readyz")
        return json.loads(admin.getresponse().read())

    def polls_failed() -> bool:
        said = [each["reason"] for each in readiness()["reasons"]]
        return OUT in said and any("cannot be polled" in reason or "no bootstrap server" in reason for reason in said)

    try:
        readiness()
        limit = proc.open_files(proxy.pid) + SPARE
        resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE, (limit, limit))
        for _ in range(2):
            with used_up(proxy):
                until(polls_failed, "the polls fail, and /readyz says why", timeout=20)
                assert OUT in after_seconds(HELD, readiness)
            until(lambda: not any(polled(reason) for reason in reasons(readiness())), "it polls again", timeout=20)
        until(lambda: readiness()["state"] == "ready", "the shortage is over", timeout=30)
    finally:
        admin.close()


def polled(reason: str) -> bool:
    return "cannot be polled" in reason


def reasons(answer: Any) -> list[str]:
    return [each["reason"] for each in answer["reasons"]]


def after_seconds(seconds: float, readiness: Any) -> list[str]:
    """Return the reasons after a time that cannot be seen in the process."""
    ends = time.monotonic() + seconds
    until(lambda: time.monotonic() >= ends, "the time", timeout=seconds + 5, every=0.1)
    return reasons(readiness())


async def test_descriptors_used_up_fail_no_healthy_upstream_over(tmp_path: Path) -> None:
    """Row 8: polls that kproxy could not make do not count, whichever upstream would answer when some are free."""
    async with brokers((1,), (1,)) as (east, west):
        east.answer.cluster_id, west.answer.cluster_id = "east", "west"
        servers = {"east": f"{HOST}:{east.port}", "west": f"{HOST}:{west.port}"}
        failover = {"automatic": True, "after": "500ms", "floor": "60s"}
        proxy = Proxy(tmp_path, {"main": servers}, each={"failover": failover}, topology={"interval": "4s"})
        try:
            await trio.to_thread.run_sync(proxy.start)
            await trio.to_thread.run_sync(goes_through_shortages, proxy)
            active = {"upstream": "east"}
            assert await trio.to_thread.run_sync(lambda: proxy.metric("kproxy_upstream_active", **active)) == 1
            assert await trio.to_thread.run_sync(lambda: proxy.metric("kproxy_shortages_total", errno="EMFILE")) > 0
            assert await trio.to_thread.run_sync(lambda: proxy.metric("kproxy_topology_epochs_total")) == 0
            assert not proxy.logged(event="upstream unreachable")
            assert not proxy.logged(event="node unreachable")
            await trio.to_thread.run_sync(proxy.stop)
        finally:
            proxy.kill()
