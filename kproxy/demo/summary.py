"""The demo's output at its end: a table, the checks, and the paths of the files."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kproxy.demo import figures
from kproxy.demo.board import Board
from kproxy.demo.checks import Check
from kproxy.demo.record import SIZE


def tries(board: Board, topic: str, group: str, console: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield commands to try, each after its description; `console` runs a Java class of a real Kafka."""
    base = f"curl -s http://{board.admin}"
    yield "is it ready?", f"{base}/readyz"
    yield "the nodes, as clients are told and as they are", f"{base}/api/v1/clusters"
    yield "who is connected", f"{base}/api/v1/connections"
    yield "requests by API and version", f"{base}/metrics | grep kproxy_requests_total"
    yield "the addresses that a client gets", f"kcat -b {board.bootstrap} -L"
    yield "the newest records", f"kcat -b {board.bootstrap} -t {topic} -C -o -3 -e"
    yield "a record of your own, beside the others", f"echo hello | kcat -b {board.bootstrap} -t {topic} -P"
    if board.group is not None:
        kproxy = f"kproxy groups %s --admin http://{board.admin}"
        yield "the group, its members, and what each is assigned", kproxy % f"describe {group}"
        yield "how far it is behind", kproxy % f"lag {group}"
        yield "a member more, until Ctrl-C", f"kcat -b {board.bootstrap} -G {group} {topic}"
    if console:
        run, tools = shlex.join(console), "org.apache.kafka.tools"
        to = f"--bootstrap-server {board.bootstrap}"
        yield "topics (kafka-topics.sh)", f"{run} {tools}.TopicCommand {to} --describe"
        yield (
            "groups (kafka-consumer-groups.sh)",
            f"{run} {tools}.consumer.group.ConsumerGroupCommand {to} --describe --all-groups",
        )
        yield (
            "records (kafka-console-consumer.sh)",
            f"{run} {tools}.consumer.ConsoleConsumer {to} --topic {topic} --max-messages 3",
        )


def show(console: Console, board: Board, checks: Sequence[Check], files: Sequence[Path]) -> None:
    """Print the summary."""
    console.print()
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for title, value in _rows(board):
        table.add_row(title, value)
    console.print(table)
    console.print()
    for check in checks:
        mark = Text("✓ ", "bold green") if check.ok else Text("✗ ", "bold red")
        console.print(mark + Text(check.found, "" if check.ok else "bold red"))
    console.print()
    for file in files:
        console.print(Text.assemble(("→ ", "dim"), (str(file), "cyan")))


def _rows(board: Board) -> Iterator[tuple[str, str]]:
    verdict, first, last = board.verdict, board.first, board.last
    assert verdict is not None, "the load has ended"
    assert first is not None, "the load has begun"
    assert last is not None, "the load has begun"
    yield "kproxy in front of", f"{board.backend}, {len(board.own)} brokers"
    yield (
        "records",
        f"{verdict['received']:,} of {SIZE} bytes in {board.at:.0f} s, through a group of {len(board.members)}",
    )
    fastest = max((moment.consumed_per_s for moment in board.moments), default=0)
    if board.group is not None:
        grown = "; ".join(f"{one.number} with {len(one.held)} members" for one in board.generations)
        yield "the group's generations", grown
    yield "highest rate", f"{fastest:,.0f} records/s, {fastest * SIZE / 2**20:.1f} MiB/s in and the same out"
    yield "produce to consume", _latencies(verdict["p50_ms"], verdict["p99_ms"], verdict["max_ms"])
    yield "within kproxy", f"{_latencies(*board.in_kproxy_ms)} for each request"
    counts = {api: count - first.requests.get(api, 0) for api, count in last.requests.items()}
    most = sorted((api for api in counts if counts[api]), key=lambda api: -counts[api])
    shown = ", ".join(f"{counts[api]:,.0f} {api}" for api in most[:3])
    yield "requests", f"{sum(counts.values()):,.0f}: {shown}, and {max(len(most) - 3, 0)} APIs more"
    cpu = last.cpu_seconds - first.cpu_seconds
    moved = (last.moved_bytes - first.moved_bytes) / 2**20
    yield "kproxy", f"{cpu:.1f} s of CPU for {moved:,.0f} MiB relayed, {last.rss_bytes / 1e6:.0f} MB of memory"


def _latencies(p50: float | None, p99: float | None, most: float | None = None) -> str:
    end = "" if most is None else f", at most {figures.latency(most)}"
    return f"p50 {figures.latency(p50)}, p99 {figures.latency(p99)}{end}"
