"""Groups that kproxy hosts, with real members: their rebalances, as the pipeline's table has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer
from deltalake import DeltaTable

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from kproxy.pipeline import run, tables
from tests.support.backend import Backend
from tests.support.proxy import Proxy
from tests.support.wait import until

# It starts a Kafka and runs a job, which a busy machine makes slow.
pytestmark = pytest.mark.timeout(600)
GROUP = "orders"


@pytest.mark.usefixtures("spark")
def test_rebalances(tmp_path: Path) -> None:
    """Who caused each, how many members there were in the end, and who was waited for."""
    written, output = tmp_path / "written", tmp_path / "tables"
    with Cluster(jars.KAFKA_4_4, (0,)) as cluster:
        topic = Backend(cluster).topic(2)
        with Proxy(
            tmp_path,
            {"newest": cluster.bootstrap},
            each={"groups": [{"match": GROUP, "initial_rebalance_delay": "100ms"}]},
            events={
                "instance": "kproxy-0",
                "destinations": [{"name": "lake", "type": "files", "directory": str(written)}],
            },
        ) as proxy:
            first, second = (consumer(proxy, name) for name in ("first", "second"))
            first.subscribe([topic])
            until(lambda: assigned(first) == [2], "the first has both partitions")
            second.subscribe([topic])
            until(lambda: assigned(first, second) == [1, 1], "each has one")
            second.close()
            until(lambda: assigned(first) == [2], "the first has both again")
            first.close()
            until(lambda: state(proxy) == "Empty", "nobody is left")
            proxy.stop()
    run.run([f"files:{written}"], str(output), "available-now", "local[2]", print)
    found = DeltaTable(str(output / tables.GROUP_REBALANCES.name)).to_pyarrow_table().to_pylist()
    rows = sorted(found, key=lambda row: row["began"])
    assert [(row["cause"], row["client_id"], row["generation"], row["members"]) for row in rows] == [
        ("member_joined", "first", 1, 1),
        ("member_joined", "second", 2, 2),
        ("member_left", "second", 3, 1),
        ("member_left", "first", 4, 0),
    ]
    assert {(row["proxy"], row["cluster"], row["group"]) for row in rows} == {("kproxy-0", "newest", GROUP)}
    assert rows[1]["waited_for"] == ["first"]
    assert all(row["seconds"] >= 0 and row["ended"] >= row["began"] for row in rows)


def consumer(proxy: Proxy, name: str) -> Consumer:
    """A member of the group, which has not joined."""
    return Consumer({"bootstrap.servers": proxy.bootstrap(), "group.id": GROUP, "client.id": name, "log_level": 0})


def assigned(*consumers: Consumer) -> list[int]:
    """How many partitions each has; a consumer joins again only when it is polled."""
    for each in consumers:
        each.poll(0.05)
    return [len(each.assignment()) for each in consumers]


def state(proxy: Proxy) -> Any:
    """The group's state, as the admin API shows it."""
    return proxy.get_json(f"/api/v1/clusters/newest/groups/{GROUP}")["state"]
