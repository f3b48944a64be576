"""The evaluation of a switch, tested without one: which clients are late, and the table that is written."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from tests.support import libraries, passages
from tests.support.others import Others
from tests.support.proc import family_cpu_seconds
from tests.support.switch import Followed, Passage
from tests.support.wait import until

PRODUCER = Followed(libraries.JAVA_4_4, "producer")
CONSUMER = Followed(libraries.JAVA_3_9, "consumer")


def passage(client: Followed, seconds: float | None) -> Passage:
    """Return a passage of a client that got 129 once and asked for metadata three times."""
    return Passage(client, seconds, {"129": 1}, 3, 0.1, ("an error",))


def test_late_and_never() -> None:
    """Clients that took too long or never arrived are named; clients without an expectation are not."""
    expected = {PRODUCER: 5.0}
    assert passages.late([passage(PRODUCER, 5.0), passage(CONSUMER, None)], expected) == {}
    assert passages.late([passage(PRODUCER, 5.1)], expected) == {"java-4-4-0-producer": 5.1}
    assert passages.late([passage(PRODUCER, None)], expected) == {"java-4-4-0-producer": None}


def test_other_load_is_no_delay() -> None:
    """Limits are for a machine that does nothing else; a client that never arrived is late on any."""
    slowed = [replace(passage(PRODUCER, 9.9), slowed=2.0, silence=10.1), replace(passage(CONSUMER, None), slowed=2.0)]
    assert passages.late(slowed, {PRODUCER: 5.0, CONSUMER: 5.0}) == {CONSUMER.cluster: None}
    assert passages.late(slowed, {PRODUCER: 4.9}) == {"java-4-4-0-producer": 9.9}
    assert passages.silent(slowed, 5.0) == {"java-4-4-0-producer": 10.1}
    assert passages.silent(slowed, 5.1) == {}


COMPUTING = [sys.executable, "-c", "import time\nwhile time.process_time() < 1: pass"]
"""A command that takes a second of a processor, however long it has to wait for one."""


def test_other_processes_are_distinguished_from_own() -> None:
    """A process that a process starts is its own; a process that has lost its parent is not."""
    # In a process without the brokers that this one may have started, which take time, too.
    check = f"from {__name__} import distinguished; distinguished()"
    subprocess.run([sys.executable, "-c", check], check=True, cwd=Path(__file__).parents[2])


def distinguished() -> None:
    """Assert it of the process that calls it."""
    used = family_cpu_seconds(os.getpid())
    subprocess.run(COMPUTING, check=True)
    assert family_cpu_seconds(os.getpid()) - used >= 0.9
    used, others = family_cpu_seconds(os.getpid()), Others()
    orphan = int(subprocess.check_output(["sh", "-c", '"$@" >/dev/null & echo $!', "sh", *COMPUTING]))
    until(lambda: not Path(f"/proc/{orphan}").exists(), "the orphan's end", 60)
    assert family_cpu_seconds(os.getpid()) - used < 0.5
    assert others.slowed() > 1.02


def test_table(tmp_path: Path) -> None:
    """The table has a row for each client, with the settings that differ from its defaults."""
    rows = passages.write(tmp_path / "build" / "t.md", "Somewhere", [passage(PRODUCER, 0.5), passage(CONSUMER, None)])
    assert rows.splitlines()[-2:] == [
        "| java | 3.9.2 | consumer | `metadata.recovery.strategy=rebootstrap` | 129 × 1 | never | 3 | 1 |",
        "| java | 4.4.0 | producer |  | 129 × 1 | 0.50 | 3 | 1 |",
    ]


def test_a_table_replaces_its_predecessor(tmp_path: Path) -> None:
    """Each title appears once, with its newest table; other titles stay."""
    path = tmp_path / "t.md"
    for title, seconds in (("One", 1.0), ("Other", 2.0), ("One", 3.0)):
        passages.write(path, title, [passage(PRODUCER, seconds)])
    text = path.read_text()
    assert text.count("\n## ") == 2
    assert "2.00" in text
    assert "3.00" in text
    assert "1.00" not in text
