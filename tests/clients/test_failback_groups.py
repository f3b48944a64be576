"""Members of groups that come back to a cluster 15 s after a failover: no dead member of theirs holds them up there.

Where dead members are there, a consumer reads a few records of the assignment that it has, and then nothing until the
sessions of the dead have timed out. A static consumer is fenced, and stops for good.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.clients.test_failover_clients import TABLE
from tests.support import libraries, passages
from tests.support.backend import Backend
from tests.support.libraries import NOTIFIED
from tests.support.proxy import Proxy
from tests.support.switch import Crowd, Followed, Topics, fed, switch
from tests.support.wait import until

pytestmark = pytest.mark.go

AWAY = float(os.environ.get("TEST_AWAY", "15"))
"""Seconds between failover and failback, by default less than any client's default session timeout."""
BACK = 3.0
"""Seconds in which a consumer is back at the first cluster, on a machine of its own."""
KIP_848 = replace(libraries.JAVA_4_4, note="kip-848", settings={"consumer": {"group.protocol": "consumer"}})
STATIC = {"consumer": {"group.instance.id": "one"}}
CLIENTS = [
    Followed(library, "consumer")
    for library in (
        libraries.JAVA_4_3,
        libraries.JAVA_3_9,
        KIP_848,
        replace(libraries.JAVA_4_3, note="static", settings=STATIC),
        replace(libraries.LIBRDKAFKA_2_16, note="static", settings=STATIC),
        replace(libraries.KAFKA_PYTHON, note="static", settings=STATIC),
        libraries.LIBRDKAFKA_2_16,
        libraries.LIBRDKAFKA_2_11,
        libraries.KAFKA_PYTHON,
        libraries.AIOKAFKA,
        libraries.FRANZ_GO,
    )
]


def test_consumers_are_soon_back_at_the_cluster_that_they_left(
    kafka: Backend, newest_kafka: Backend, tmp_path: Path
) -> None:
    """Each reads on at the first cluster within 3 s of a failback 15 s after a failover, whatever its library."""
    backends = {"old": kafka, "new": newest_kafka}
    topics = Topics.create(*backends.values())
    for backend in backends.values():
        backend.open_coordinator(topics.read)
    upstreams = {name: backend.cluster.bootstrap for name, backend in backends.items()}
    with (
        fed(backends, topics.read),
        Proxy(tmp_path, {client.cluster: upstreams for client in CLIENTS}) as proxy,
        Crowd(CLIENTS, tmp_path, topics, proxy.bootstrap) as crowd,
    ):
        begun = time.time()
        there = switch(crowd, proxy, "new", newest_kafka, dict.fromkeys(CLIENTS, 2 * NOTIFIED))
        until(lambda: time.time() > begun + AWAY, "the failback's moment", 2 * AWAY)
        back = switch(crowd, proxy, "old", kafka, dict.fromkeys(CLIENTS, 4 * AWAY))
        outcomes = {one.cluster: proxy.metric("kproxy_group_departures_total", cluster=one.cluster) for one in CLIENTS}
        departures = {
            (labels["cluster"], labels["outcome"]): int(count)
            for name, labels, count in proxy.samples()
            if name == "kproxy_group_departures_total" and count
        }
    print(passages.write(TABLE, "Groups at a failover", there))
    print(passages.write(TABLE, f"Groups at a failback {AWAY:g} s later", back))
    assert not passages.late(back, dict.fromkeys(CLIENTS, BACK))
    assert not passages.silent(back, BACK)
    assert {name for name, count in outcomes.items() if not count} == {Followed(KIP_848, "consumer").cluster}
    left = sum(count for (_, outcome), count in departures.items() if outcome == "left")
    assert left >= 2 * (len(CLIENTS) - 1), f"each member left each cluster: {departures}"
