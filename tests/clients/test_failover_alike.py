"""Clients that look alike, as a producer and two consumers of one application: each follows a switch as if alone."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.support.backend import Backend
from tests.support.libraries import CONFLUENT_KAFKA, FRANZ_GO, JAVA_4_4, NOTIFIED, Library, Role
from tests.support.long_lived import LongLived
from tests.support.others import Others
from tests.support.proxy import Proxy
from tests.support.switch import Topics, fed
from tests.support.wait import until

pytestmark = pytest.mark.go

WHO = {"producer": "acked", "consumer": "consumed", "other": "consumed"}
LIBRARIES = {library.name: library for library in (FRANZ_GO, JAVA_4_4, CONFLUENT_KAFKA)}


def alike(library: Library) -> Library:
    """The library with one client id for all clients; each consumer still has a group of its own."""
    everywhere = {**library.settings.get("all", {}), "client.id": "app"}
    return replace(library, note="alike", settings={**library.settings, "all": everywhere})


def roles(bootstrap: str, topics: Topics) -> dict[str, Role]:
    """A producer and two consumers."""
    return {
        "producer": Role("producer", bootstrap, topics.written, "producer"),
        "consumer": Role("consumer", bootstrap, topics.read, "one"),
        "other": Role("consumer", bootstrap, topics.read, "two"),
    }


@pytest.fixture(params=sorted(LIBRARIES))
def library(request: pytest.FixtureRequest) -> Library:
    """Each library that goes on by 129."""
    return alike(LIBRARIES[request.param])


def all_there(process: LongLived, second: Backend, topics: Topics, since: float) -> dict[str, float] | None:
    """After how many seconds each had its first success at the second cluster; None while one had none."""
    written = set(second.values(topics.written))
    found = {}
    for who, event in WHO.items():
        for one in process.events(who, event):
            if one.value in written if who == "producer" else one.value.startswith("second-"):
                found[who] = one.at - since
                break
    return found if len(found) == len(WHO) else None


def test_each_follows(library: Library, kafka: Backend, newest_kafka: Backend, tmp_path: Path) -> None:
    """All three are at the other cluster within the time of one that is told alone."""
    topics = Topics.create(kafka, newest_kafka)
    newest_kafka.open_coordinator(topics.read)
    upstreams = {"first": kafka.cluster.bootstrap, "second": newest_kafka.cluster.bootstrap}
    with (
        fed({"first": kafka, "second": newest_kafka}, topics.read),
        Proxy(tmp_path, {"orders": upstreams}, topology={"retired": "refuse"}) as proxy,
        LongLived(library, roles(proxy.bootstrap(), topics), tmp_path) as process,
    ):
        for who, event in WHO.items():
            until(partial(process.events, who, event), f"first success of {who}", 60)
        others, since = Others(), time.time()
        proxy.fail_over("orders", "second")
        found = until(partial(all_there, process, newest_kafka, topics, since), "all of them at the other cluster", 60)
        print(library.label, found, proxy.metric("kproxy_clients_told_total", means="129"), others.slowed())
        late = {who: seconds for who, seconds in found.items() if seconds > NOTIFIED * others.slowed()}
    assert not late
