"""Faults of kproxy's own, in a real process: none of them ends it (issue 18, row 9)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.proxy import HOST, Proxy
from tests.support.raw import RawClient, api_versions
from tests.support.wait import until

from .faulty import PLACES
from .requests import JUNK
from .setting import ATTACKED, brokers

_PATIENCE: Final = 40  # seconds until each place has failed, with its task begun again
_PROGRAM: Final = (sys.executable, "-m", "tests.attacks.faulty")
_MADE: Final = re.compile(r"^fault made in (.+)$", re.MULTILINE)


@pytest.fixture
def faulty(backend: str, tmp_path: Path) -> Iterator[Proxy]:
    """A kproxy, not started yet, in which every place of `PLACES` fails once."""
    events = {"destinations": [{"name": "lake", "type": "files", "directory": str(tmp_path / "lake")}]}
    (tmp_path / "lake").mkdir()
    with brokers("second") as (ports, _):
        servers = {"attacked": {"first": backend, "second": f"{HOST}:{ports[ATTACKED]}"}}
        proxy = Proxy(tmp_path, servers, program=_PROGRAM, each={"telemetry": {}}, events=events)
        yield proxy
        proxy.kill()


def test_no_fault_ends_the_process(faulty: Proxy) -> None:
    """Each fault is counted, clients are served through all of them, and readiness comes back at the end."""
    faulty.start()

    def all_made() -> bool:
        assert faulty.exited is None, f"it ended after faults in {_made(faulty)}:\n{faulty.tail()}"
        _come_and_go(faulty)
        return _made(faulty) == PLACES.keys()

    until(all_made, "a fault in each place", timeout=_PATIENCE, every=0.2)
    with RawClient(faulty.port()) as client:
        assert client.ask(api_versions(1))
    assert faulty.metric("kproxy_internal_errors_total") >= len(PLACES)
    until(lambda: faulty.ready, "ready again", timeout=120, every=0.5)


def _made(proxy: Proxy) -> set[str]:
    return set(_MADE.findall(proxy.log.read_text()))


def _come_and_go(proxy: Proxy) -> None:
    """One connection that ends well, and one that is ended with bytes unread, which lingers; a fault may end either."""
    for last in (b"", JUNK[0] + bytes(100)):
        try:
            with RawClient(proxy.port(), timeout=2) as client:
                client.ask(api_versions(1))
                client.send(last)
                if last:
                    client.wait_closed(2)
        except (OSError, EOFError):
            continue
