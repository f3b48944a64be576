"""Kafka Connect: the group of two workers is hosted, though its protocol is not that of consumers (statement 27)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from tests.support.backend import Backend
from tests.support.connect import Worker
from tests.support.hosted_group import HostedGroup
from tests.support.proxy import Proxy
from tests.support.wait import until

pytestmark = pytest.mark.timeout(300)
GROUP: Final = "connect-pair"
CONNECTORS: Final = 4


def test_statement_27_two_workers(newest_kafka: Backend, tmp_path: Path) -> None:
    """They share the tasks; a kproxy that is killed disturbs none; when one worker dies the other has them all."""
    proxy = Proxy(
        tmp_path,
        {"newest": newest_kafka.cluster.bootstrap},
        each={"groups": [{"match": ".*", "initial_rebalance_delay": "500ms"}]},
        state={"path": str(tmp_path / "state.db")},
    )
    topic = newest_kafka.topic(1)
    group = HostedGroup(proxy, "newest", GROUP)
    with (
        proxy,
        Worker(proxy.bootstrap(), GROUP, tmp_path, "one") as one,
        Worker(proxy.bootstrap(), GROUP, tmp_path, "two") as two,
    ):
        for worker in (one, two):
            worker.wait_ready()
        files = [tmp_path / f"lines-{number}" for number in range(CONNECTORS)]
        for file in files:
            file.touch()
            one.tail(file.name, file, topic)
        until(lambda: one.tasks() == Counter({one.id: 2, two.id: 2}), "two tasks each", timeout=60, every=0.2)
        check_lines(files, newest_kafka, topic, "first")
        shown = group.shown()
        assert shown is not None
        assert (shown["protocol_type"], shown["protocol"], shown["members"]) == ("connect", "sessioned", 2)
        assert all(member["assignment"] is None and member["assignment_bytes"] > 0 for member in group.members())

        until(lambda: group.settled(2), "no rebalance follows", timeout=60, every=0.2)
        known = group.ids(), group.generation()
        proxy.kill()
        proxy.start()
        assert (group.state(), group.ids(), group.generation()) == ("Stable", *known)
        until(lambda: group.settled(2), "both workers are heard of", timeout=60, every=0.2)
        assert group.ids() == known[0]  # a worker that got no time for a while may ask for a rebalance of its own
        assert two.tasks() == Counter({one.id: 2, two.id: 2})
        check_lines(files, newest_kafka, topic, "after kproxy's kill")

        one.kill()
        until(lambda: two.tasks() == Counter({two.id: CONNECTORS}), "all tasks at one", timeout=60, every=0.2)
        assert len(group.ids()) == 1
        check_lines(files, newest_kafka, topic, "after a worker's death")
        assert GROUP not in {name for name, state in newest_kafka.group_states().items() if state != "EMPTY"}


def check_lines(files: Sequence[Path], backend: Backend, topic: str, text: str) -> None:
    """Append lines to each file, and wait until all are in the topic."""
    lines = {f"{file.name}: {text} {number}" for file in files for number in range(5)}
    for file in files:
        with file.open("a") as tailed:
            tailed.writelines(f"{line}\n" for line in sorted(lines) if line.startswith(f"{file.name}: "))
    until(lambda: lines <= set(backend.values(topic)), f"all lines are written: {text}", timeout=60, every=0.5)
