"""kproxy.cli.faults: rules are listed, added and removed; mistakes end with one line."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.unit.admin.memory_view import MemoryView
from tests.unit.cli.test_remote import Asking, ask, cells

__all__ = ["ask"]
ADD = ("faults", "add", "--api", "Produce")
NOT_LEADER = ("--error", "NOT_LEADER_OR_FOLLOWER")


async def test_list(view: MemoryView, ask: Asking) -> None:
    """A line for each rule."""
    view.injection.add({"api": "Produce", "error": "NOT_LEADER_OR_FOLLOWER", "count": 3, "duration": 300})
    view.injection.add({"api": "Produce", "close": True, "software": "librdkafka .*"})
    view.injection.add({"api": "Metadata", "half": "LEADER_NOT_AVAILABLE"})
    code, out, err = await ask("faults", "list")
    assert (code, err) == (0, "")
    table = [cells(line) for line in out.splitlines()]
    assert "200 s" <= table[2].pop() <= "300 s"  # it has begun to end
    assert table == [
        ["Virtual cluster", "Rule", "API", "Fault", "Clients", "Rate", "Hits", "Ends in", "Fixed"],
        ["main", "1", "Fetch", "delay of 2 s", "client_id=slow-.*", "0.5", "0", "yes"],
        ["main", "2", "Produce", "NOT_LEADER_OR_FOLLOWER", "all", "1", "0 of 3"],
        ["main", "3", "Produce", "close", "software=librdkafka .*", "1", "0"],
        ["main", "4", "Metadata", "half of LEADER_NOT_AVAILABLE", "all", "1", "0"],
    ]


async def test_add(view: MemoryView, ask: Asking) -> None:
    """As in the docs: what the flags say is what the rule has, and the line says which rule it is."""
    flags = ("--client-id", "orders-.*", "--rate", "0.1", "--for", "5m", "--count", "9", "--software", "librdkafka .*")
    code, out, err = await ask(*ADD, *NOT_LEADER, *flags)
    assert (code, out.strip(), err) == (0, "main: rule 2: NOT_LEADER_OR_FOLLOWER of Produce", "")
    rule, seconds = view.injection.rules()[1]
    assert seconds is not None
    assert 299 < seconds <= 300
    settings = rule.settings
    assert (settings.client_id, settings.software, settings.rate, settings.count) == (
        "orders-.*",
        "librdkafka .*",
        0.1,
        9,
    )


@pytest.mark.parametrize(
    ("flags", "shown"),
    [
        (("--delay", "500ms"), "delay of 0.5 s of Produce"),
        (("--close",), "close of Produce"),
        (("--half", "NOT_LEADER_OR_FOLLOWER"), "half of NOT_LEADER_OR_FOLLOWER of Produce"),
    ],
)
async def test_other_faults(ask: Asking, flags: tuple[str, ...], shown: str) -> None:
    """Each kind."""
    code, out, _ = await ask(*ADD, *flags, "--cluster", "main")
    assert (code, out.strip()) == (0, f"main: rule 2: {shown}")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((*ADD,), 1, "names no fault: give one of error, delay, close and half"),
        ((*ADD, *NOT_LEADER, "--close"), 1, "names error and close: give one of"),
        ((*ADD, "--error", "NOT_LEADER"), 1, "error: 'NOT_LEADER' is no error of Kafka, but NOT_LEADER_OR_FOLLOWER is"),
        ((*ADD, "--delay", "soon"), 2, "'soon' is not a duration"),
        ((*ADD, "--close", "--for", "ever"), 2, "'ever' is not a duration"),
        (("faults", "add", "--close"), 2, "Missing option '--api'"),
        ((*ADD, "--close", "--cluster", "other"), 1, "other: faults are not enabled"),
        (("faults", "remove"), 2, "give the number of a rule, or --all"),
        (("faults", "remove", "1", "--all"), 2, "give the number of a rule, or --all"),
        (("faults", "remove", "1"), 1, "rule 1 is in the configuration"),
    ],
)
async def test_mistakes(ask: Asking, arguments: tuple[str, ...], code: int, words: str) -> None:
    """One line on standard error: exit code 1 where kproxy refuses, 2 for a wrong command."""
    found, out, err = await ask(*arguments)
    assert (found, out, len(err.splitlines())) == (code, "", 1)
    assert words in err


async def test_remove(view: MemoryView, ask: Asking) -> None:
    """One, or all."""
    for _ in range(3):
        view.injection.add({"api": "Fetch", "close": True})
    assert (await ask("faults", "remove", "2"))[1].strip() == "main: 1 rule removed"
    assert (await ask("faults", "remove", "--all"))[1].strip() == "main: 2 rules removed"


async def test_json(ask: Asking) -> None:
    """What the API answers, for scripts."""
    added = json.loads((await ask(*ADD, "--close", "--json"))[1])
    assert (added["id"], added["close"]) == (2, True)
    listed = json.loads((await ask("faults", "list", "--json"))[1])["faults"]
    assert [(rule["cluster"], rule["id"]) for rule in listed] == [("main", 1), ("main", 2)]
    assert json.loads((await ask("faults", "remove", "2", "--json"))[1]) == {"cluster": "main", "removed": 1}


async def test_which_virtual_cluster(view: MemoryView, ask: Asking) -> None:
    """The one that has faults enabled; of several it must be said, and where none has, that is."""
    view.virtual = (replace(view.virtual[0], faults=True), replace(view.virtual[1], faults=True))
    code, out, err = await ask(*ADD, "--close")
    assert (code, out) == (2, "")
    assert "give --cluster: main, other" in err
    view.virtual = (replace(view.virtual[0], faults=False),)
    code, out, err = await ask(*ADD, "--close")
    assert (code, out) == (1, "")
    assert err.strip() == "no virtual cluster has faults enabled: faults.enabled in its configuration"
