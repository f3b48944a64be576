"""POST below /api/v1: what is carried out, and what is answered when it is not."""

from __future__ import annotations

import pytest

from kproxy.admin.models import FailoverFinding, UnmappedView
from kproxy.errors import CommandError, ConflictError, NotFoundError, RetryLaterError
from tests.unit.admin.conftest import Start
from tests.unit.admin.memory_view import MemoryView
from tests.unit.admin.raw import Reply, exchange, replies

REBOOTSTRAP = "/api/v1/clusters/main/rebootstrap"
FAILOVER = "/api/v1/clusters/main/failover"
RELOAD = "/api/v1/reload"
JSON = "Content-Type: application/json"


async def post(port: int, target: str, body: str = "", *headers: str) -> Reply:
    """A POST on a connection of its own, with a Host and what else is given."""
    lines = [f"POST {target} HTTP/1.1", "Host: kproxy:9190", "Connection: close", f"Content-Length: {len(body)}"]
    received = await exchange(port, "\r\n".join([*lines, *headers, "", body]).encode())
    return replies(received, "POST")[0]


async def test_rebootstrap(view: MemoryView, port: int) -> None:
    """The new epoch, and how many connections it concerned."""
    reply = await post(port, REBOOTSTRAP)
    assert (reply.status, reply.json()) == (200, {"cluster": "main", "epoch": 2, "connections": 17})
    assert view.commands == [("rebootstrap", "main")]


async def test_reload(view: MemoryView, port: int) -> None:
    """The settings that changed, of the process and of each virtual cluster."""
    view.reloaded = ("drain.deadline",)
    reply = await post(port, RELOAD)
    said = {"process": ["drain.deadline"], "clusters": {"main": ["drain.deadline"]}, "added": [], "removed": []}
    assert (reply.status, reply.json()) == (200, said)
    assert view.commands == [("reload",)]


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ("", (None, False)),
        ("{}", (None, False)),
        ('{"to": "west"}', ("west", False)),
        ('{"to": "west", "force": true}', ("west", True)),
        ('{"force": true, "to": null}', (None, True)),
    ],
)
async def test_failover(view: MemoryView, port: int, body: str, command: tuple[str | None, bool]) -> None:
    """To the one that is named, else to the next; never forced unless asked."""
    reply = await post(port, FAILOVER, body, JSON)
    assert reply.status == 200
    said = {"cluster": "main", "upstream": "west", "epoch": 2, "connections": 17, "unmapped": [], "unkept": None}
    assert reply.json() == said
    assert view.commands == [("failover", "main", *command)]


async def test_a_failover_that_is_not_made(view: MemoryView, port: int) -> None:
    """What it would mean, and nothing else is done."""
    view.findings = (FailoverFinding("warns", "topics", "are not there: orders"),)
    reply = await post(port, FAILOVER, '{"to": "west", "dry_run": true}', JSON)
    assert reply.status == 200
    found = [{"weight": "warns", "about": "topics", "detail": "are not there: orders"}]
    assert reply.json() == {"cluster": "main", "upstream": "west", "refused": False, "findings": found}
    assert view.commands == [("rehearse", "main", "west")]


async def test_a_forced_failover_says_which_nodes_have_no_port(view: MemoryView, port: int) -> None:
    """Each by its id, with the reason."""
    view.unmapped = (UnmappedView(7, "node 7 is in none of nodes.ranges"),)
    reply = await post(port, FAILOVER, '{"force": true}', JSON)
    assert reply.status == 200
    assert reply.json()["unmapped"] == [{"node_id": 7, "reason": "node 7 is in none of nodes.ranges"}]


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        (NotFoundError("gone meanwhile"), 404),
        (ConflictError("main: west is active already"), 409),
        (ConflictError("main: west does not answer: connection refused; force switches all the same"), 409),
        (RetryLaterError("main: the epoch rose 3 s ago", 6.2), 429),
    ],
)
@pytest.mark.parametrize("target", [REBOOTSTRAP, FAILOVER, RELOAD])
async def test_what_is_not_carried_out(
    view: MemoryView, port: int, target: str, refusal: CommandError, status: int
) -> None:
    """The reason, word for word, under the status of its kind."""
    view.refusal = refusal
    reply = await post(port, target)
    assert (reply.status, reply.json()) == (status, {"error": str(refusal)})


@pytest.mark.parametrize(("seconds", "header"), [(6.2, "7"), (7.0, "7"), (0.01, "1"), (0.0, "1")])
async def test_too_soon(view: MemoryView, port: int, seconds: float, header: str) -> None:
    """Retry-After in whole seconds, none too few and never 0."""
    view.refusal = RetryLaterError("too soon", seconds)
    assert (await post(port, REBOOTSTRAP)).headers["retry-after"] == header


@pytest.mark.parametrize("action", ["rebootstrap", "failover"])
async def test_a_cluster_that_is_not_there(view: MemoryView, port: int, action: str) -> None:
    """404, with the names there are."""
    reply = await post(port, f"/api/v1/clusters/mian/{action}")
    assert (reply.status, reply.json()) == (404, {"error": "there is no cluster 'mian'; there are: main, other"})
    assert view.commands == []


async def test_an_upstream_that_is_not_there(view: MemoryView, port: int) -> None:
    """404, with the names there are."""
    reply = await post(port, FAILOVER, '{"to": "wset"}', JSON)
    assert (reply.status, reply.json()) == (404, {"error": "main has no upstream 'wset'; there are: east, west"})
    assert view.commands == []


@pytest.mark.parametrize(
    ("target", "body", "headers", "status"),
    [
        (FAILOVER, "{", [JSON], 400),
        (FAILOVER, '{"upstream": "west"}', [JSON], 400),
        (REBOOTSTRAP, '{"force": true}', [JSON], 400),
        (RELOAD, '{"force": true}', [JSON], 400),
        (FAILOVER, "{}", [], 415),
        (REBOOTSTRAP, "{}", ["Content-Type: text/plain"], 415),
        (FAILOVER, "to=west", ["Content-Type: application/x-www-form-urlencoded"], 415),
    ],
)
async def test_bodies_that_are_not_understood(
    view: MemoryView, port: int, target: str, body: str, headers: list[str], status: int
) -> None:
    """Nothing is carried out by half."""
    assert (await post(port, target, body, *headers)).status == status
    assert view.commands == []


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://kproxy", "http://kproxy:9191", "null", "", "kproxy:9190", "https://x://y"]
)
@pytest.mark.parametrize("target", [REBOOTSTRAP, FAILOVER])
async def test_a_page_of_another_site(view: MemoryView, port: int, target: str, origin: str) -> None:
    """A browser sends it wherever the page says, but names the page's site: 403."""
    reply = await post(port, target, "", f"Origin: {origin}")
    assert reply.status == 403
    assert view.commands == []


@pytest.mark.parametrize("origin", ["http://kproxy:9190", "https://KPROXY:9190"])
async def test_a_page_of_this_site(view: MemoryView, start: Start, origin: str) -> None:
    """Under a name that the configuration lists, also behind something that speaks TLS."""
    port = await start(None, ["Kproxy"])
    assert (await post(port, REBOOTSTRAP, "", f"Origin: {origin}")).status == 200


async def test_a_page_whose_name_was_made_to_lead_here(view: MemoryView, port: int) -> None:
    """DNS rebinding: Origin and Host agree, but nobody said that this is kproxy's name. curl may use it."""
    reply = await post(port, REBOOTSTRAP, "", "Origin: http://kproxy:9190")
    assert reply.status == 403
    assert "`admin.allowed_hosts`" in reply.json()["error"]
    assert view.commands == []
    assert (await post(port, REBOOTSTRAP)).status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_a_form_of_another_site(view: MemoryView, port: int, site: str) -> None:
    """What a browser says of the page counts, also when it sends no Origin."""
    assert (await post(port, REBOOTSTRAP, "", f"Sec-Fetch-Site: {site}")).status == 403
    assert view.commands == []


async def test_a_browser_without_a_host(view: MemoryView, port: int) -> None:
    """HTTP/1.0 has no Host to compare with."""
    received = await exchange(port, f"POST {REBOOTSTRAP} HTTP/1.0\r\nOrigin: null\r\n\r\n".encode())
    assert replies(received, "POST")[0].status == 403
    assert view.commands == []


async def test_reading_is_no_command(view: MemoryView, port: int) -> None:
    """GET of a command is a 405, not a switch: a link or a prefetch changes nothing."""
    for target in (REBOOTSTRAP, FAILOVER):
        received = await exchange(port, f"GET {target} HTTP/1.0\r\n\r\n".encode())
        assert replies(received)[0].headers["allow"] == "POST"
    assert view.commands == []
