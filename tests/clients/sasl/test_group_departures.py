"""Members leave a cluster with ACLs at a failover if kproxy's identity there may read their group."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from tests.clients.sasl.shown import check_secrets
from tests.clients.sasl.test_hosted_groups import TIMEOUT, credentials
from tests.clients.sasl.test_identity import user
from tests.support.backend import Backend
from tests.support.members import member
from tests.support.proxy import Proxy
from tests.support.secured import AUTHORIZES, Secured, secured
from tests.support.wait import until

GROUP = "orders"


@pytest.fixture(scope="module")
def strict() -> Iterator[Secured]:
    """A broker with ACLs, where only alice reads groups and topics."""
    with secured(AUTHORIZES) as broker:
        admin = AdminClient({"bootstrap.servers": broker.plain, "log_level": 0})
        bindings = [
            AclBinding(
                kind, "*", ResourcePatternType.LITERAL, "User:alice", "*", AclOperation.READ, AclPermissionType.ALLOW
            )
            for kind in (ResourceType.GROUP, ResourceType.TOPIC)
        ]
        for future in admin.create_acls(bindings).values():
            future.result(TIMEOUT)
        yield broker


@pytest.mark.parametrize(
    ("identity", "outcome", "state"),
    [("alice", "left", "EMPTY"), ("bob", "refused", "STABLE"), (None, "unreachable", "STABLE")],
)
def test_what_the_identity_may_do(
    strict: Secured, newest_kafka: Backend, tmp_path: Path, identity: str | None, outcome: str, state: str
) -> None:
    """With READ members leave; without it they stay, and the log says why, once. Without an identity they stay, too."""
    backend = Backend(strict.cluster)
    topic = backend.topic(1, 1)
    newest_kafka.topic(1, 1, name=topic)
    old: dict[str, Any] = {"name": "old", "bootstrap_servers": strict.bootstrap}
    if identity is not None:
        old["identity"] = user("SCRAM-SHA-256", identity)
    upstreams = [old, {"name": "new", "bootstrap_servers": newest_kafka.cluster.bootstrap}]
    group = f"{GROUP}-{identity}"
    with Proxy(tmp_path, {"kafka": {}}, each={"upstreams": upstreams}) as proxy:
        proxy.looks.append(check_secrets)
        with member(proxy.bootstrap(), group, topic, credentials("alice")):
            proxy.fail_over("kafka", "new")
            until(lambda: proxy.metric("kproxy_group_departures_total") == 1, "the member is counted", 15)
            counted = proxy.metric("kproxy_group_departures_total", outcome=outcome)
            assert (counted, backend.group_states()[group]) == (1, state)
        lines = proxy.logged(event="members stay at the old coordinator")
    assert [line["stay"] for line in lines] == [1] * (outcome != "left")
    if outcome == "refused":
        assert lines[0]["why"] == f"group {group}: the broker answers FindCoordinator with GROUP_AUTHORIZATION_FAILED"
