"""A broker that only accepts known users, and kproxy in front of it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.clients.sasl.shown import check_secrets
from tests.support.proxy import Proxy
from tests.support.secured import Secured, secured
from tests.support.violation import checking


@pytest.fixture(scope="package")
def broker() -> Iterator[Secured]:
    """One node of Apache Kafka 4.3.1."""
    with secured() as found:
        yield found


@pytest.fixture(scope="package")
def proxy(broker: Secured, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Yield a kproxy in front of both listeners, at log level debug; check at its end that nothing shows a secret."""
    servers = {"secured": broker.bootstrap, "open": broker.plain}
    directory = tmp_path_factory.mktemp("sasl")
    settings: dict[str, Any] = {
        "log": {"format": "json", "level": "debug"},
        "topology": {"interval": "1s"},
        "events": {"destinations": [{"name": "files", "type": "files", "directory": str(directory / "events")}]},
    }
    written = partial(_events, directory / "events")
    with checking(lambda: check_secrets(written())), Proxy(directory, servers, **settings) as found:
        found.looks.append(check_secrets)
        yield found
    principals = {one.get("principal") for one in map(json.loads, written().splitlines())}
    assert principals - {None} == {
        line["principal"] for line in found.logged(event="connection ended") if "principal" in line
    }


def _events(directory: Path) -> str:
    return "".join(gzip.decompress(file.read_bytes()).decode() for file in directory.glob("*.gz"))
