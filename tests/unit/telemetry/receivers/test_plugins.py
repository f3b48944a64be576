"""kproxy.telemetry.receivers.plugins and fanout: receivers of other packages, and the effect of their faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from kproxy.telemetry.receivers.interface import Fanout, Queued
from kproxy.telemetry.receivers.plugins import installed, make
from tests.unit.telemetry.receivers.pushes import gauge, push

HERE = "tests.unit.telemetry.receivers"


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with entry points: one good, one broken, one that makes something else."""
    metadata = tmp_path / "site" / "kproxy_plugin-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: kproxy-plugin\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(
        "[kproxy.telemetry_receivers]\n"
        f"log = {HERE}.example_plugin:log\nbroken = {HERE}.no_such_module:log\nother = {HERE}.test_plugins:nothing\n"
        f"fails = {HERE}.test_plugins:failing\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "site")


def failing(name: str, options: dict[str, object], labels: object) -> object:
    """An entry point with a fault."""
    return options["missing"]


def nothing(name: str, options: object, labels: object) -> object:
    """An entry point that makes no receiver."""
    return object()


async def test_the_example(tmp_path: Path, nursery: trio.Nursery) -> None:
    """The plug-in of the documentation is found, made, and gets what is pushed."""
    assert installed() == ["broken", "fails", "log", "other"]
    receiver = make("log", "mine", {"path": str(tmp_path / "log")}, {"cluster": "main"})
    fanout = Fanout([receiver])
    await nursery.start(fanout.run)
    fanout.offer(push(gauge("g", 1.0)))
    await fanout.flush(10)
    assert (tmp_path / "log").read_text().startswith("{'cluster': 'main'} app ")
    assert (receiver.name, receiver.counters.delivered) == ("mine", 1)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("nobody", r"no receiver of type 'nobody': plug-ins are broken, fails, log, other; install its package"),
        ("broken", r"the plug-in .*no_such_module:log does not load: ModuleNotFoundError"),
        ("fails", r"the plug-in .*:failing refuses: KeyError: 'missing'"),
        ("other", r"test_plugins:nothing makes is no receiver: it lacks offer, run, flush, counters .*, content_types"),
        ("log", r"the plug-in .*:log refuses: ValueError: mine: takes `path` and nothing else, not \['x'\]"),
    ],
)
def test_what_is_no_plug_in(kind: str, message: str) -> None:
    """The error says which plug-in, and why."""
    with pytest.raises(ValueError, match=message):
        make(kind, "mine", {"x": 1}, {})


async def test_content_types(autojump_clock: Any) -> None:
    """A receiver without OTLP among its types is offered nothing; queues hold payloads, not decoded metrics."""
    other = Queued("other")
    other.content_types = frozenset({"application/json"})
    taking = Queued("taking")
    pushed = push(gauge("g", 1.0))
    assert pushed.metrics is pushed.metrics
    Fanout([other, taking]).offer(pushed)  # type: ignore[list-item]
    assert (other.counters.offered, taking.counters.offered) == (0, 1)
    assert pushed.metrics is not pushed.metrics


def test_the_example_is_documented() -> None:
    """docs/telemetry.md has the code that is tested here."""
    root = Path(__file__).parents[4]
    source = (Path(__file__).parent / "example_plugin.py").read_text()
    code = source.partition("# example begins\n")[2].partition("\n\n# example ends")[0].strip()
    assert code in (root / "docs" / "telemetry.md").read_text()
