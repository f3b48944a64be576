"""What to try while the demo stays up."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from kproxy.demo.board import Board


def tries(board: Board, topic: str, console: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What a command shows, and the command; `console` runs a class of Kafka's, where there is a real one."""
    base = f"curl -s http://{board.admin}"
    yield "is it ready?", f"{base}/readyz"
    yield "the nodes, as clients are told and as they are", f"{base}/api/v1/clusters"
    yield "who is connected", f"{base}/api/v1/connections"
    yield "requests by API and version", f"{base}/metrics | grep kproxy_requests_total"
    yield "the addresses that a client gets", f"kcat -b {board.bootstrap} -L"
    yield "the newest records", f"kcat -b {board.bootstrap} -t {topic} -C -o -3 -e"
    yield "a record of your own, beside the others", f"echo hello | kcat -b {board.bootstrap} -t {topic} -P"
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
