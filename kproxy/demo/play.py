"""Runs the demo from start to end: Kafka, kproxy, the clients, the output, and the cleanup.

`kproxy demo` calls `play` once.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from kproxy.demo import backend, summary
from kproxy.demo.backend import Backend
from kproxy.demo.board import Board
from kproxy.demo.checks import Check, check
from kproxy.demo.children import Child, Stopped, stopped_by_signals
from kproxy.demo.pace import STAIRS, Pace
from kproxy.demo.proxy import Proxy
from kproxy.demo.screen import console, screen
from kproxy.local_kafka.ports import SocketWatch
from kproxy.local_kafka.processes import ToolError

TOPIC: Final = "demo"
GROUP: Final = "demo-group"
FAILED: Final = 1
_BY_SIGNAL: Final = 128
_POLL: Final = 0.1
_END_TIMEOUT: Final = 60.0
_TRICKLE: Final = ("--rates", "50", "--seconds", str(10**8))


def play(*, kafka: bool, stay: bool, hosts_groups: bool, seconds: int, out: Path) -> int:
    """Do as `kproxy.demo.run`."""
    output = console()
    try:
        with stopped_by_signals():
            out.mkdir(parents=True, exist_ok=True)
            return Play(output, seconds, out, GROUP if hosts_groups else None).run(kafka, stay)
    except Stopped as stopped:
        output.print(f"stopped by {stopped.number.name}; nothing is left running")
        return _BY_SIGNAL + stopped.number
    except (ToolError, OSError) as error:
        print(f"kproxy demo: {error}", file=sys.stderr)  # noqa: T201 - the CLI's form of an error
        return FAILED


class Play:
    """One run of the demo. Files go into `out`; the load lasts `seconds`; `group` is the group that kproxy hosts."""

    def __init__(self, output: Console, seconds: int, out: Path, group: str | None) -> None:
        self._group = group
        self._console = output
        self._seconds = seconds
        self._out = out
        self._pause = threading.Event()

    def run(self, kafka: bool, remain: bool) -> int:
        """Run the demo; return 0 when all checks pass, else 1."""
        with self._backend(kafka) as behind:
            self._say("starting kproxy serve")
            with Proxy(behind.bootstrap, len(behind.own), self._out, self._group) as proxy:
                proxy.wait_ready()
                return self._run(behind, proxy, remain)

    def _backend(self, kafka: bool) -> AbstractContextManager[Backend]:
        return backend.real(self._say) if kafka else backend.mock(self._out, self._say)

    def _run(self, behind: Backend, proxy: Proxy, remain: bool) -> int:
        board = Board(behind.name, proxy.bootstrap, proxy.admin, behind.own, Pace(STAIRS, self._seconds))
        checks = self._load(board, behind, proxy)
        if not remain:
            self._say("draining kproxy")
            proxy.drain()
            checks.append(Check(True, "kproxy drained and ended with exit code 0 after SIGTERM"))
        summary.show(self._console, board, checks, self._write(board, checks))
        if remain:
            self._stay(board, behind, proxy)
        return 0 if all(one.ok for one in checks) else FAILED

    def _load(self, board: Board, behind: Backend, proxy: Proxy) -> list[Check]:
        guest = () if self._group is None else ("--guest",)
        rates = ("--rates", *map(str, STAIRS), "--seconds", str(self._seconds), *guest)
        self._say("starting a producer and a consumer group of two")
        board.begin(proxy.scrape())
        board.see_connections(proxy.nodes(), proxy.connections())
        with self._workload(behind, proxy, rates) as clients, SocketWatch(clients.pid) as sockets:
            with screen(self._console) as view:
                view.show(board)
                import kproxy.demo.plot  # noqa: F401, PLC0415 - it takes a second, as long as the group takes to assemble

                while board.verdict is None:
                    for line in _look(behind, proxy, clients):
                        self._take(board, line, proxy)
                    view.show(board)
                    self._pause.wait(_POLL)
            clients.wait(_END_TIMEOUT)
            return check(board, sockets.peers, sockets.sockets)

    def _take(self, board: Board, line: dict[str, Any], proxy: Proxy) -> None:
        """Take over one line of the clients."""
        takers: dict[str, Callable[[], object]] = {
            "addresses": lambda: _addresses(board, line, proxy),
            "assigned": lambda: board.members.__setitem__(line["member"], line["partitions"]),
            "left": lambda: board.members.pop(line["member"], None),
            "sample": lambda: self._sample(board, line, proxy),
            "verdict": lambda: setattr(board, "verdict", line),
        }
        takers[line["kind"]]()

    def _sample(self, board: Board, line: dict[str, Any], proxy: Proxy) -> None:
        board.see_connections(proxy.nodes(), proxy.connections())
        board.see_sample(line, proxy.scrape())
        if self._group is not None and (found := proxy.group(self._group)) is not None:
            board.see_group(*found)

    def _workload(self, behind: Backend, proxy: Proxy, options: Sequence[str]) -> Child:
        arguments = ("-m", "kproxy.demo.workload", proxy.bootstrap, *behind.workload_options, *options)
        return Child("the clients", arguments, self._out / "clients.log")

    def _stay(self, board: Board, behind: Backend, proxy: Proxy) -> None:
        """Keep running with a trickle of records, so that there is something to see, until a signal comes."""
        with self._workload(behind, proxy, _TRICKLE) as clients:
            self._console.print("\nIt stays up, with 50 records a second. Try, in another terminal:\n")
            for what, command in summary.tries(board, TOPIC, GROUP, behind.console):
                self._console.print(Text(f"# {what}", "dim"))
                self._console.print(Text(command), soft_wrap=True)
            self._console.print("\nCtrl-C ends it.")
            try:
                while not self._pause.wait(_POLL * 5):
                    _look(behind, proxy, clients)
            except Stopped as stopped:
                if stopped.number != signal.SIGINT:
                    raise

    def _write(self, board: Board, checks: Sequence[Check]) -> list[Path]:
        from kproxy.demo.plot import plot  # noqa: PLC0415 - imported already

        picture, data = self._out / "kproxy-demo.png", self._out / "kproxy-demo.json"
        plot(board, all(one.ok for one in checks), picture)
        data.write_text(json.dumps(_as_json(board, checks), indent=1) + "\n")
        return [picture, data]

    def _say(self, line: str) -> None:
        self._console.print(Text(line, "dim"))


def _look(behind: Backend, proxy: Proxy, clients: Child) -> list[dict[str, Any]]:
    """Return the clients' lines since the last look. Raise ToolError when a part failed or has ended."""
    behind.check()
    proxy.check()
    lines = list(clients.lines())
    for line in lines:
        if line["kind"] == "failed":
            raise ToolError(f"the clients failed: {line['message']} (see {clients.log})")
    if not lines:
        clients.check()
    return lines


def _addresses(board: Board, line: dict[str, Any], proxy: Proxy) -> None:
    board.told = {int(node): address for node, address in line["nodes"].items()}
    board.see_connections(proxy.nodes(), proxy.connections())


def _as_json(board: Board, checks: Sequence[Check]) -> dict[str, Any]:
    """Return the run as JSON values."""
    return {
        "backend": board.backend,
        "pace": asdict(board.pace),
        "nodes": [asdict(node) for node in board.nodes],
        "members": board.members,
        "generations": [asdict(generation) for generation in board.generations],
        "verdict": board.verdict,
        "in_kproxy_ms": dict(zip(("p50", "p99"), board.in_kproxy_ms, strict=True)),
        "checks": [asdict(one) for one in checks],
        "moments": [asdict(moment) for moment in board.moments],
    }
