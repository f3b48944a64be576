"""A replica of kproxy that drains sends its clients to its sibling."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.clients.test_failover_clients import WORKERS
from tests.support.backend import Backend
from tests.support.libraries import ALONE, EVERY_LIBRARY, JAVA_3_9_QUICK, KAFKA_PYTHON, NOTIFIED
from tests.support.proxy import Proxy
from tests.support.switch import Crowd, Followed, Topics, fed

pytestmark = pytest.mark.go

# kafka-python takes the brokers of a 129 and never asks its bootstrap servers again: it cannot go to a sibling.
ABLE = [one for one in (*EVERY_LIBRARY, JAVA_3_9_QUICK) if one.alone is not None and one is not KAFKA_PYTHON]
CLIENTS = [Followed(library, kind) for library in ABLE for kind in WORKERS]
DEADLINE = 5.0


def test_clients_go_to_the_sibling(kafka: Backend, tmp_path: Path) -> None:
    """With `drain.rebootstrap`, clients that bootstrap from both replicas get 129 and go on at the other one."""
    topics = Topics.create(kafka)
    servers, drain = {"kafka": kafka.cluster.bootstrap}, {"rebootstrap": True, "deadline": f"{DEADLINE}s"}
    (tmp_path / "sibling").mkdir()
    with Proxy(tmp_path / "sibling", servers) as sibling, Proxy(tmp_path, servers, drain=drain) as drained:
        # The replica named first is the drained one: the order does not matter.
        both = f"{drained.bootstrap()},{sibling.bootstrap()}"
        with fed({"fed": kafka}, topics.read), Crowd(CLIENTS, tmp_path, topics, lambda _: both) as crowd:
            assert drained.metric("kproxy_connections_active") > 0, "nobody came to the replica that is to drain"
            begun = time.time()
            drained.signal(signal.SIGTERM)
            assert drained.wait(DEADLINE + 5) == 0
            for client in CLIENTS:
                crowd.wait_past(client, begun + DEADLINE + NOTIFIED, client.cluster, 2 * ALONE)
            stopped = drained.logged(event="connection ended", reason="drain_deadline")
            assert not stopped, f"{len(stopped)} connections were cut off: {stopped[:2]}"
            crowd.check_lost(kafka)
