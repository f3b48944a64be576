"""kproxy.cli.groups: what is shown of hosted groups."""

from __future__ import annotations

import json
from dataclasses import replace

from kproxy.admin.models import PartitionLagView
from kproxy.errors import BackendError
from tests.unit.admin.memory_view import MemoryView, group_member_view, group_view
from tests.unit.cli.test_remote import Asking, ask, cells

__all__ = ["ask"]


async def test_list(view: MemoryView, ask: Asking) -> None:
    """Of every virtual cluster that hosts groups."""
    view.hosted = [group_view("orders"), replace(group_view("idle", 0), state="Empty", protocol=None)]
    code, out, err = await ask("groups", "list")
    assert (code, err) == (0, "")
    assert [cells(line) for line in out.splitlines()] == [
        ["Virtual cluster", "Group", "State", "Generation", "Protocol", "Members", "In state"],
        ["main", "idle", "Empty", "3", "consumer", "0", "12s"],
        ["main", "orders", "Stable", "3", "consumer range", "2", "12s"],
    ]


async def test_describe(view: MemoryView, ask: Asking) -> None:
    """The group, then its members; the virtual cluster is found where only one has a group of that id."""
    view.hosted = [group_view("orders")]
    static = replace(group_member_view(1), instance="one", waits="JoinGroup", session_ends=None, assignment={})
    connect = replace(group_member_view(2), assignment=None)
    view.members = [group_member_view(0), static, connect]
    code, out, err = await ask("groups", "describe", "orders")
    assert (code, err) == (0, "")
    facts, members = out.split("\n\n")
    assert [line.split(":", 1)[1].strip() for line in facts.splitlines()] == [
        "main", "orders", "Stable, for 12s", "3", "consumer range", "2",
    ]  # fmt: skip
    head, *rows = [cells(line) for line in members.splitlines()]
    assert head == ["Client id", "Host", "Member", "Instance", "Leader", "Waits in", "Session ends", "Assignment"]
    assert rows == [
        ["consumer-000", "192.0.2.1", "member-000", "-", "leader", "-", "42s", "orders:0"],
        ["consumer-001", "192.0.2.1", "member-001", "one", "-", "JoinGroup", "-", "-"],
        ["consumer-002", "192.0.2.1", "member-002", "-", "-", "-", "42s", "30 bytes"],
    ]


async def test_members(view: MemoryView, ask: Asking) -> None:
    """Without the group."""
    view.hosted, view.members = [group_view("orders")], [group_member_view(0)]
    code, out, _ = await ask("groups", "members", "orders", "--cluster", "main")
    assert code == 0
    assert [cells(line)[0] for line in out.splitlines()] == ["Client id", "consumer-000"]


async def test_json(view: MemoryView, ask: Asking) -> None:
    """What the API answers, for scripts."""
    view.hosted, view.members = [group_view("orders")], [group_member_view(0)]
    listed = json.loads((await ask("groups", "list", "--json"))[1])["groups"]
    assert [(group["cluster"], group["group"]) for group in listed] == [("main", "orders")]
    described = json.loads((await ask("groups", "describe", "orders", "--json"))[1])
    assert (described["cluster"], [member["member"] for member in described["members"]]) == ("main", ["member-000"])
    members = json.loads((await ask("groups", "members", "orders", "--json"))[1])["members"]
    assert members == described["members"]


async def test_lag(view: MemoryView, ask: Asking) -> None:
    """Of each partition, and their sum; what is not known is said."""
    view.hosted = [group_view("orders")]
    view.lag = [
        PartitionLagView("t", 0, 7, 9, 2, None, "app", "192.0.2.1"),
        PartitionLagView("t", 1, 7, 47, 40, None, None, None),
    ]
    code, out, err = await ask("groups", "lag", "orders")
    assert (code, err) == (0, "")
    table, total = out.split("\n\n")
    assert [cells(line) for line in table.splitlines()] == [
        ["Topic", "Partition", "Committed", "End", "Lag", "Client id", "Host", "Error"],
        ["t", "0", "7", "9", "2", "app", "192.0.2.1", "-"],
        ["t", "1", "7", "47", "40", "-", "-", "-"],
    ]
    assert total == "42 records behind\n"
    view.lag.append(PartitionLagView("t", 2, None, None, None, "LEADER_NOT_AVAILABLE", None, None))
    out = (await ask("groups", "lag", "orders"))[1]
    assert cells(out.splitlines()[3]) == ["t", "2", "-", "-", "-", "-", "-", "LEADER_NOT_AVAILABLE"]
    assert out.endswith("\n42 records behind; unknown for 1 of 3 partitions\n")
    answer = json.loads((await ask("groups", "lag", "orders", "--json"))[1])
    assert [row["lag"] for row in answer["partitions"]] == [2, 40, None]


async def test_a_backend_that_does_not_answer(view: MemoryView, ask: Asking) -> None:
    """One line, exit code 1."""
    view.hosted, view.refusal = [group_view("orders")], BackendError("no broker answers: at all")
    code, out, err = await ask("groups", "lag", "orders")
    assert (code, out, err.strip()) == (1, "", "no broker answers: at all")


async def test_which_virtual_cluster(view: MemoryView, ask: Asking) -> None:
    """Where several host groups, it is the one that has the group; otherwise it must be said."""
    both = [replace(one, hosts_groups=True) for one in view.virtual]
    view.virtual, view.hosted = (both[0], both[1]), [group_view("orders")]
    assert (await ask("groups", "describe", "orders"))[0] == 0
    code, out, err = await ask("groups", "describe", "gone")
    assert (code, out) == (1, "")
    assert err.strip() == "no hosted group 'gone': `kproxy groups list` shows them all"


async def test_a_group_that_is_not_there(ask: Asking) -> None:
    """One line, exit code 1."""
    code, out, err = await ask("groups", "describe", "gone")
    assert (code, out) == (1, "")
    assert err.strip() == "kproxy hosts no group 'gone'"
