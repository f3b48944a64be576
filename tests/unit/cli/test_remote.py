"""kproxy.cli.remote: what a running kproxy is asked, what is printed of its answer, and the exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import trio

from kproxy.admin.models import Event, FailoverFinding, Rebootstrap, UnmappedView
from kproxy.cli import remote
from kproxy.cli.admin_port import AdminPort
from kproxy.cli.output import CliError
from kproxy.errors import CommandError, ConflictError, RetryLaterError
from kproxy.local_kafka.ports import free_port
from tests.unit.admin.memory_view import MemoryView, client_view, cluster_view, upstream_view
from tests.unit.cli.running import printed, run

Asking = Callable[..., Awaitable[tuple[int, str, str]]]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], port: int) -> Asking:
    """Runs a command against the test's admin port, beside the loop that serves it."""

    async def command(*arguments: str) -> tuple[int, str, str]:
        given = [*arguments, "--admin", f"http://127.0.0.1:{port}"]
        return await trio.to_thread.run_sync(printed, capsys, given)

    return command


def cells(line: str) -> list[str]:
    """A row's cells: at least two spaces part them."""
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


async def test_clusters(view: MemoryView, ask: Asking) -> None:
    """A line for each: how far its topology is, where its clients are, and where they could go."""
    one = cluster_view("orders")
    node = replace(one.nodes[0], reachable=False)
    view.virtual = (
        replace(one, epoch=3, nodes=(*one.nodes, node), connections=1234),
        replace(cluster_view("audit"), upstreams=one.upstreams[:1]),
        replace(one, nodes=(node,), unmapped=(UnmappedView(9, "no port is free for node 9"),)),
        replace(
            one, upstreams=(one.upstreams[0], upstream_view("west", "b:9", active=False, warnings=("it is away",)))
        ),
    )
    code, out, err = await ask("clusters")
    assert (code, err) == (0, "")
    assert [cells(line) for line in out.splitlines()] == [
        ["Virtual cluster", "Epoch", "Upstream", "Nodes", "Connections"],
        ["orders", "3", "east (else west)", "3 (1 unreachable)", "1234"],
        ["audit", "1", "east", "2", "2"],
        ["orders", "1", "east (else west)", "2 (1 unreachable, 1 without a port)", "2"],
        ["orders", "1", "east (else west: unfit)", "2", "2"],
        ["Warning: orders: the standby west: it is away"],
    ]


async def test_clients(view: MemoryView, ask: Asking) -> None:
    """Who is connected, with what is known of each; what is not known is left empty."""
    unknown = replace(client_view(2), software_name=None, software_version=None, client_id=None, metadata_version=None)
    view.connected = [client_view(1), replace(unknown, rebootstrap=Rebootstrap.UNKNOWN, connections=1)]
    code, out, err = await ask("clients")
    assert (code, err) == (0, "")
    since = "2026-01-02T03:04:05.000+00:00"
    assert [cells(line) for line in out.splitlines()] == [
        ["Virtual cluster", "Host", "Client id", "Software", "Connections", "Since", "Metadata", "Rebootstrap"],
        ["main", "192.0.2.1", "1", since, "unknown"],
        ["main", "192.0.2.1", "producer-001", "apache-kafka-java 4.3.1", "2", since, "v13", "129"],
    ]


async def test_principals_of_clients(view: MemoryView, ask: Asking) -> None:
    """A column of their own, where any client has one."""
    view.connected = [client_view(1), replace(client_view(1), principal="User:alice")]
    _, out, _ = await ask("clients")
    head, nobody, alice = map(cells, out.splitlines())
    assert head[2:5] == ["Client id", "Principal", "Software"]
    assert nobody[2:4] == ["producer-001", "apache-kafka-java 4.3.1"]
    assert alice[2:5] == ["producer-001", "User:alice", "apache-kafka-java 4.3.1"]


async def test_clients_that_are_not_able(view: MemoryView, ask: Asking) -> None:
    """Of one virtual cluster or all."""
    view.connected = [
        client_view(1, "main", Rebootstrap.NO),
        client_view(2, "main", Rebootstrap.ALONE),
        client_view(3, "other", Rebootstrap.NO),
        client_view(4, "other", Rebootstrap.UNKNOWN),
    ]

    async def found(*flags: str) -> list[str]:
        _, out, _ = await ask("clients", "--json", *flags)
        return [client["client_id"] for client in json.loads(out)["clients"]]

    assert await found("--unable") == ["producer-001", "producer-003"]
    assert await found("--unable", "--cluster", "other") == ["producer-003"]
    assert len(await found()) == 4


async def test_every_page_of_clients(view: MemoryView, ask: Asking) -> None:
    """However many there are, once each."""
    view.connected = [client_view(number) for number in range(2_500)]
    _, out, _ = await ask("clients", "--json")
    names = [client["client_id"] for client in json.loads(out)["clients"]]
    assert len(names) == len(set(names)) == 2_500


@pytest.mark.parametrize(
    ("arguments", "command", "line"),
    [
        (["rebootstrap", "main"], ("rebootstrap", "main"), "main: epoch 2; 17 connections told or closed"),
        (["failover", "main"], ("failover", "main", None, False), "main: upstream west, epoch 2; 17 connections told"),
        (["failover", "main", "--to", "west"], ("failover", "main", "west", False), "main: upstream west, epoch 2;"),
        (["failover", "main", "--force"], ("failover", "main", None, True), "main: upstream west, epoch 2;"),
    ],
)
async def test_commands(
    view: MemoryView, ask: Asking, arguments: Sequence[str], command: tuple[object, ...], line: str
) -> None:
    """What was done, in one line."""
    code, out, err = await ask(*arguments)
    assert (code, err, view.commands) == (0, "", [command])
    assert out.startswith(line)
    assert out.count("\n") == 1


@pytest.mark.parametrize(
    ("changed", "lines"),
    [
        (("drain.deadline",), ["drain.deadline", "main: drain.deadline"]),
        ((), ["No setting has changed. The files of TLS were read again."]),
    ],
)
async def test_a_reload(view: MemoryView, ask: Asking, changed: tuple[str, ...], lines: list[str]) -> None:
    """A line for each setting that has changed, with its virtual cluster."""
    view.reloaded = changed
    code, out, err = await ask("reload")
    assert (code, err, out.splitlines(), view.commands) == (0, "", lines, [("reload",)])


async def test_a_reload_that_adds_and_removes(view: MemoryView, ask: Asking) -> None:
    """The virtual clusters that came and went are named."""
    view.added = ("audit",)
    assert (await ask("reload"))[1].splitlines() == ["audit: added", "audit: removed"]


async def test_a_failover_that_is_not_made(view: MemoryView, ask: Asking) -> None:
    """A line for each finding; the exit code says whether it would be refused."""
    assert await ask("failover", "main", "--dry-run") == (
        0,
        "main: a failover to west would be made. Nothing has changed.\n",
        "",
    )
    view.findings = (FailoverFinding("refuses", "cluster", "node 7 has no port"),)
    code, out, err = await ask("failover", "main", "--to", "west", "--dry-run")
    assert (code, err) == (1, "")
    assert out.splitlines() == [
        "main: a failover to west would be refused without --force. Nothing has changed.",
        "Refuses: cluster: node 7 has no port",
    ]
    code, out, _ = await ask("failover", "main", "--dry-run", "--json")
    assert (code, json.loads(out)["refused"]) == (1, True)


async def test_who_comes_back(view: MemoryView, ask: Asking) -> None:
    """By what brings them back, and by name who does not; exit code 1 while one is missing."""
    old = client_view(2, rebootstrap=Rebootstrap.NO)
    view.connected = [client_view(1), old]
    view.happened = (Event("2026-01-02T03:05:00.000+00:00", "clients rebootstrap", {"epoch": 2}),)
    view.moved = [replace(client_view(1), since="2026-01-02T03:05:01.000+00:00"), client_view(9), old]
    code, out, err = await ask("failover", "main", "--wait", "1")
    assert (code, err) == (1, "")
    assert out.splitlines()[1:] == [
        "   0 s: 1 of 2 clients are back (129: 1 of 1, only by a restart: 0 of 1)",
        "Not back: producer-002 at 192.0.2.1",
    ]
    view.connected = [client_view(1)]
    code, out, err = await ask("failover", "main", "--wait", "60", "--json")
    assert (code, err, json.loads(out)["missing"]) == (0, "", [])


async def test_a_look_that_fails(view: MemoryView, ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The switch is made, and said; who comes back is looked at again."""
    view.connected = [client_view(1)]
    view.happened = (Event("2026-01-02T03:05:00.000+00:00", "clients rebootstrap", {"epoch": 2}),)
    view.moved = [replace(client_view(1), since="2026-01-02T03:05:01.000+00:00")]
    busy = [1, 2]  # the second and third list of clients
    lists = 0

    def clients(*given: Any) -> Iterator[dict[str, Any]]:
        nonlocal lists
        lists += 1
        if lists - 1 in busy:
            raise CliError("8 pages are under way", 1)
        return listed(*given)

    listed = remote._clients
    monkeypatch.setattr(remote, "_clients", clients)
    code, out, err = await ask("failover", "main", "--wait", "60", "--json")
    assert (code, json.loads(out)["missing"], json.loads(out)["epoch"]) == (0, [], 2)
    assert err.splitlines() == [
        "Warning: 8 pages are under way; the switch is made, and who comes back is looked at again"
    ]


async def test_a_switch_does_not_wait_for_a_list(
    view: MemoryView, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is connected is for display only."""

    def busy(*_: object) -> Iterator[dict[str, Any]]:
        raise CliError("8 pages are under way", 1)

    monkeypatch.setattr(remote, "_clients", busy)
    code, out, err = await ask("failover", "main", "--wait", "60", "--json")
    assert (code, json.loads(out)["missing"], json.loads(out)["upstream"]) == (0, None, "west")
    assert err.startswith("Warning: who is connected cannot be listed, so nobody is waited for: 8 pages")


async def test_texts_of_clients(view: MemoryView, ask: Asking) -> None:
    """They neither make another row nor tell the terminal anything."""
    view.connected = [replace(client_view(1), client_id="a\x1b[2J\nb")]
    _, out, _ = await ask("clients")
    assert len(out.splitlines()) == 2
    assert "a\\x1b[2J\\nb" in out


async def test_a_forced_failover_warns_of_nodes_without_a_port(view: MemoryView, ask: Asking) -> None:
    """A line for each below what was done; the exit code says that it was done."""
    view.unmapped = (UnmappedView(7, "node 7 is in none of nodes.ranges"),)
    code, out, err = await ask("failover", "main", "--force")
    assert (code, err) == (0, "")
    assert out.splitlines()[1:] == ["Warning: node 7 has no port: node 7 is in none of nodes.ranges"]


async def test_a_failover_warns_that_a_restart_would_undo_it(view: MemoryView, ask: Asking) -> None:
    """Where the disk has not taken it."""
    view.unkept = "state.db: the disk is full"
    code, out, _ = await ask("failover", "main")
    why = "a restart of kproxy would begin at the upstream of before: state.db: the disk is full"
    assert (code, out.splitlines()[1:]) == (0, [f"Warning: {why}"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rebootstrap", "main"], {"cluster": "main", "epoch": 2, "connections": 17}),
        (["reload"], {"process": [], "clusters": {}, "added": [], "removed": []}),
        (
            ["failover", "main"],
            {"cluster": "main", "upstream": "west", "epoch": 2, "connections": 17, "unmapped": [], "unkept": None},
        ),
    ],
)
async def test_commands_as_json(ask: Asking, arguments: Sequence[str], said: object) -> None:
    """What the API answers, for scripts."""
    code, out, _ = await ask(*arguments, "--json")
    assert (code, json.loads(out)) == (0, said)


async def test_clusters_as_json(ask: Asking) -> None:
    """The same as at /api/v1/clusters."""
    _, out, _ = await ask("clusters", "--json")
    assert [cluster["name"] for cluster in json.loads(out)["clusters"]] == ["main", "other"]


@pytest.mark.parametrize(
    ("refusal", "line"),
    [
        (ConflictError("main: west is active already"), "main: west is active already\n"),
        (RetryLaterError("main: the epoch rose 3 s ago", 6.2), "main: the epoch rose 3 s ago (again in 7 s)\n"),
    ],
)
async def test_a_refusal(view: MemoryView, ask: Asking, refusal: CommandError, line: str) -> None:
    """The proxy's own words on standard error, exit code 1."""
    view.refusal = refusal
    assert await ask("failover", "main") == (1, "", line)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["rebootstrap", "mian"], "there is no cluster 'mian'; there are: main, other\n"),
        (["rebootstrap", "main?x#y%"], "there is no cluster 'main?x#y%'; there are: main, other\n"),
        (["failover", "main", "--to", "wset"], "main has no upstream 'wset'; there are: east, west\n"),
        (["clients", "--cluster", "a&b"], "there is no cluster 'a&b'; there are: main, other\n"),
    ],
)
async def test_names_that_are_not_there(ask: Asking, arguments: Sequence[str], line: str) -> None:
    """Refused by the proxy, which says what there is: exit code 1."""
    assert await ask(*arguments) == (1, "", line)


def test_nobody_is_there(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it was looked for, why it failed, and how to say where: exit code 2."""
    url = f"http://127.0.0.1:{free_port()}"
    line = f"{url}: cannot be asked: Connection refused (--admin or KPROXY_ADMIN_URL)\n"
    assert printed(capsys, ["clusters", "--admin", url]) == (2, "", line)
    monkeypatch.setenv("KPROXY_ADMIN_URL", url)
    assert printed(capsys, ["rebootstrap", "main"]) == (2, "", line)


def test_the_default_is_this_machine(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Port 9190, as in the examples; an empty variable is none. KPROXY_ADMIN, where serve listens, is another thing."""
    monkeypatch.setenv("KPROXY_ADMIN", "127.0.0.1:1")
    monkeypatch.setenv("KPROXY_ADMIN_URL", "")
    asked: list[str] = []

    def get(port: AdminPort, path: str) -> dict[str, list[str]]:
        asked.append(f"{port.url}{path}")
        return {"clusters": []}

    monkeypatch.setattr(AdminPort, "get", get)
    assert printed(capsys, ["clusters"])[0] == 0
    assert asked == ["http://127.0.0.1:9190/api/v1/clusters"]


def test_against_kproxy_itself() -> None:
    """From outside, as an operator does it, in front of a backend that does not answer."""
    port = free_port()
    url = {"KPROXY_ADMIN_URL": f"http://127.0.0.1:{port}"}
    command = [sys.executable, "-m", "kproxy", "serve", "--bootstrap-servers", "127.0.0.1:1", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(
        [*command, "--admin", f"127.0.0.1:{port}", "--log-format", "json"], stderr=subprocess.PIPE, text=True
    ) as serving:
        try:
            assert serving.stderr
            next(line for line in serving.stderr if json.loads(line)["event"] == "listening")
            shown = run("clusters", **url)
            nobody = run("clients", "--json", **url)
            refused = run("failover", "default", "--to", "west", **url)
        finally:
            serving.terminate()
    assert [cells(line) for line in shown.stdout.splitlines()[1:]] == [["default", "0", "main", "0", "0"]]
    assert json.loads(nobody.stdout) == {"clients": []}
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "default has no upstream 'west'; there are: main\n"
