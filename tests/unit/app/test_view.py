"""kproxy.app.view: the cost of a request."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kproxy.admin import api
from kproxy.admin.message import Request
from kproxy.app.process import Process
from kproxy.app.view import ProcessView
from kproxy.errors import NotFoundError
from tests.unit.app.living import brokers, living, settings


class Watched:
    """A process that counts accesses to its parts."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.parts: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.parts.add(name)
        return getattr(self._process, name)


async def test_a_name_check_walks_no_connection() -> None:
    """It accesses only the virtual clusters; a cluster's view accesses the connections, which it counts."""
    async with brokers((1,), (2,)) as both, living(settings(*both)) as alive:
        await alive.until_state("ready")
        watched = Watched(alive.process)
        view = ProcessView(cast("Process", watched))
        assert list(view.cluster_names()) == ["c0", "c1"]
        assert (await api.events(Request("GET", "/", segments={"cluster": "c1"}), view)).status == 200
        for ask in (view.cluster, view.events, view.subscriptions):
            with pytest.raises(NotFoundError, match=r"^there is no cluster 'mian'; there are: c0, c1$"):
                ask("mian")
        assert watched.parts == {"clusters"}
        assert view.cluster("c1") == view.clusters()[1]
        assert watched.parts > {"clusters"}
