"""/api/v1/clusters/{cluster}/groups: the groups that kproxy hosts, and their members."""

from __future__ import annotations

from kproxy.admin.models import PartitionLagView
from kproxy.errors import BackendError
from tests.unit.admin.memory_view import MemoryView, group_member_view, group_view
from tests.unit.admin.raw import fetch

GROUPS = "/api/v1/clusters/main/groups"


async def test_groups_by_page(view: MemoryView, port: int) -> None:
    """By rising id; `next` leads to the rest."""
    view.hosted = [group_view(name) for name in ("orders", "audit", "sales")]
    page = (await fetch(port, f"{GROUPS}?limit=2")).json()
    assert ([group["group"] for group in page["groups"]], page["next"]) == (["audit", "orders"], "orders")
    rest = (await fetch(port, f"{GROUPS}?after=orders")).json()
    assert ([group["group"] for group in rest["groups"]], rest["next"]) == (["sales"], None)


async def test_one_group(view: MemoryView, port: int) -> None:
    """All that is known of it; its id may hold anything."""
    view.hosted = [group_view("a/b ü")]
    shown = (await fetch(port, f"{GROUPS}/a%2Fb%20%C3%BC")).json()
    assert shown == {
        "group": "a/b ü",
        "state": "Stable",
        "generation": 3,
        "protocol_type": "consumer",
        "protocol": "range",
        "members": 2,
        "leader": "member-000",
        "in_state_seconds": 12.5,
    }


async def test_members(view: MemoryView, port: int) -> None:
    """By rising member id, with what each is assigned."""
    view.hosted, view.members = [group_view("orders")], [group_member_view(number) for number in range(3)]
    page = (await fetch(port, f"{GROUPS}/orders/members?limit=1&after=member-000")).json()
    assert page["next"] == "member-001"
    [member] = page["members"]
    assert (member["member"], member["leader"], member["assignment"]) == ("member-001", False, {"orders": [1]})


async def test_lag(view: MemoryView, port: int) -> None:
    """Of each partition; 502 with the reason when the brokers cannot be asked."""
    view.hosted, view.lag = [group_view("orders")], [PartitionLagView("t", 1, 7, 9, 2, None, "app", "192.0.2.1")]
    assert (await fetch(port, f"{GROUPS}/orders/lag")).json() == {
        "partitions": [
            {
                "topic": "t",
                "partition": 1,
                "committed": 7,
                "end": 9,
                "lag": 2,
                "error": None,
                "client_id": "app",
                "host": "192.0.2.1",
            }
        ]
    }
    view.refusal = BackendError("no broker answers")
    reply = await fetch(port, f"{GROUPS}/orders/lag")
    assert (reply.status, reply.json()) == (502, {"error": "no broker answers"})


async def test_what_is_not_there(port: int) -> None:
    """404 with the reason: no such group, or no groups at all."""
    assert (await fetch(port, f"{GROUPS}/gone")).status == 404
    assert (await fetch(port, f"{GROUPS}/gone/members")).status == 404
    assert (await fetch(port, f"{GROUPS}/gone/lag")).status == 404
    reply = await fetch(port, "/api/v1/clusters/other/groups")
    assert (reply.status, reply.json()["error"]) == (404, "other: kproxy hosts none of its groups")
