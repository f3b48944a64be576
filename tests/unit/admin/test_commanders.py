"""Commands over HTTP: who may give them, and how they are reported."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from kproxy.admin import commanders
from kproxy.admin.authorization import check_commander
from kproxy.admin.commanders import Commanders
from kproxy.admin.limits import Limits
from kproxy.admin.message import Request
from kproxy.admin.server import serve_admin
from kproxy.errors import ConfigError
from kproxy.observe.events import OperatorCommand
from tests.unit.admin.memory_view import MemoryView
from tests.unit.admin.raw import Reply, exchange, replies
from tests.unit.relay.sockets import eventually

COMMAND = "POST /api/v1/clusters/main/rebootstrap"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refusals need not be waited for."""
    monkeypatch.setattr(commanders, "_DELAY", 0.0)


ELSEWHERE = "127.0.0.2"
"""Stands for another machine."""


@pytest.fixture(autouse=True)
def another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients at this address count as clients of another machine."""
    monkeypatch.setattr(commanders, "is_loopback", lambda address: address != ELSEWHERE)


async def command(port: int, token: str | None = None, source: str = "127.0.0.1") -> Reply:
    """The answer to a command."""
    bearer = [] if token is None else [f"Authorization: Bearer {token}"]
    lines = [f"{COMMAND} HTTP/1.1", "Host: kproxy", "Connection: close", "Content-Length: 0", *bearer, "", ""]
    return replies(await exchange(port, "\r\n".join(lines).encode(), source=source), "POST")[0]


async def serving(view: MemoryView, nursery: trio.Nursery, access: Commanders) -> int:
    """The port of an admin port."""
    bound: tuple[str, int] = await nursery.start(partial(serve_admin, view, "127.0.0.1", 0, commanders=access))
    return bound[1]


def reported(view: MemoryView) -> Sequence[OperatorCommand]:
    """The commands that were reported, all of them for "main"."""
    assert {cluster for cluster, _ in view.reported} <= {"main"}
    return [event for _, event in view.reported]


async def test_on_the_same_machine(view: MemoryView, nursery: trio.Nursery) -> None:
    """It is carried out without a token, and reported."""
    port = await serving(view, nursery, Commanders())
    assert (await command(port)).status == 200
    assert view.commands == [("rebootstrap", "main")]
    assert reported(view) == [OperatorCommand(COMMAND, "127.0.0.1", 200, None, None, 0)]


async def test_from_another_machine(view: MemoryView, nursery: trio.Nursery) -> None:
    """A command is refused, and reported; pages are for everybody."""
    port = await serving(view, nursery, Commanders())
    reply = await command(port, source=ELSEWHERE)
    assert (reply.status, view.commands) == (403, [])
    assert reported(view) == [OperatorCommand(COMMAND, ELSEWHERE, 403, reply.json()["error"], None, 0)]
    page = b"GET /api/v1/clusters HTTP/1.1\r\nHost: kproxy\r\nConnection: close\r\n\r\n"
    assert replies(await exchange(port, page, source=ELSEWHERE))[0].status == 200


async def test_everybody(view: MemoryView, nursery: trio.Nursery) -> None:
    """Where the configuration says so."""
    port = await serving(view, nursery, Commanders(anyone=True))
    assert (await command(port, source=ELSEWHERE)).status == 200


async def test_a_token_that_changes(view: MemoryView, nursery: trio.Nursery, tmp_path: Path) -> None:
    """The one that the file has now counts; while it has none, no command is taken."""
    file = tmp_path / "token"
    file.write_text("first\n")
    port = await serving(view, nursery, Commanders(str(file)))
    assert [(await command(port, token)).status for token in (None, "second", "first")] == [401, 401, 200]
    file.write_text("second\n")
    assert [(await command(port, token)).status for token in ("first", "second")] == [401, 200]
    file.write_text("")
    reply = await command(port, "")
    assert (reply.status, "is empty" in reply.json()["error"]) == (500, True)
    assert [event.status for event in reported(view)] == [401, 401, 200, 401, 200, 500]
    assert "second" not in repr(view.reported)


@pytest.mark.parametrize(("content", "why"), [(None, "No such file"), (b"", "is empty"), (b"\n", "is empty")])
def test_a_file_without_a_token(tmp_path: Path, content: bytes | None, why: str) -> None:
    """kproxy does not start."""
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=why) as caught:
        Commanders(str(file))
    assert caught.value.key == "admin.token_file"


@pytest.mark.parametrize("content", [b"x" * 5000, b"\xff\xfe"])
def test_what_is_no_token(tmp_path: Path, content: bytes) -> None:
    """Too long, or no text."""
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(ConfigError):
        Commanders(str(tmp_path / "token"))


async def test_refusals_take_no_place(view: MemoryView, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many guesses wait for their refusal, a command that may be given is carried out meanwhile."""
    monkeypatch.setattr(commanders, "_DELAY", 5.0)
    checked = []

    def check(request: Request, token: str | None, **how: Any) -> None:
        checked.append(how["local"])
        check_commander(request, token, **how)

    monkeypatch.setattr(commanders, "check_commander", check)
    port = await serving(view, nursery, Commanders())
    guesses = 3 * Limits().commands
    for _ in range(guesses):
        nursery.start_soon(partial(command, port, source=ELSEWHERE))
    await eventually(lambda: checked.count(False) == guesses, "all of them wait")
    with trio.fail_after(1):
        assert (await command(port)).status == 200
    nursery.cancel_scope.cancel()


async def test_a_long_path(view: MemoryView, nursery: trio.Nursery) -> None:
    """What is reported of it is bounded."""
    port = await serving(view, nursery, Commanders())
    name = "x" * 5000
    lines = [f"POST /api/v1/clusters/{name}/rebootstrap HTTP/1.1", "Host: kproxy", "Connection: close", "", ""]
    (reply,) = replies(await exchange(port, "\r\n".join(lines).encode()), "POST")
    assert reply.status == 404
    ((_, event),) = view.reported
    assert len(event.command) == 256


async def test_many_refusals(view: MemoryView, nursery: trio.Nursery) -> None:
    """Ten a second are reported, and how many were left out; what is carried out always is."""
    port = await serving(view, nursery, Commanders())
    began = trio.current_time()
    for _ in range(40):
        assert (await command(port, source=ELSEWHERE)).status == 403
        await command(port)
    seconds = int(trio.current_time()) - int(began) + 1
    refused = [event for event in reported(view) if event.refused is not None]
    assert len(refused) <= 10 * seconds
    assert len(view.commands) == len(reported(view)) - len(refused) == 40
    await trio.sleep(1.01)
    await command(port, source=ELSEWHERE)
    assert sum(event.left_out + 1 for event in reported(view) if event.refused is not None) == 41
