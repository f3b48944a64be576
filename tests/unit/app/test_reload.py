"""A reload that takes the active upstream cluster away."""

from __future__ import annotations

from kproxy.app.reload import apply
from tests.unit.app.living import HOST
from tests.unit.cluster.test_epochs import described, two


async def test_a_reload_without_the_active_upstream() -> None:
    """The first one of the new list becomes active, and failovers go on from there."""
    async with two() as process:
        servers = [
            {"name": name, "bootstrap_servers": f"{HOST}:{broker.port}"}
            for name, broker in (("new", process.b), ("b", process.a))
        ]
        config = described(process.a, process.b, cluster={"upstreams": servers}, admin=process.alive.listens)
        await apply(process.alive.process, config)
        assert (process.cluster.upstreams.active.name, process.cluster.upstreams.cluster_id) == ("new", "B")
        assert await process.alive.get("/readyz") == {"state": "ready", "reasons": []}
        process.cluster.rebootstrap.epoch.floor = 0.0
        assert (await process.post("failover"))[1]["upstream"] == "b"
        assert process.cluster.upstreams.cluster_id == "A"
