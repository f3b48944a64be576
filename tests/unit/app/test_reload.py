"""A reload that takes the active upstream cluster away."""

from __future__ import annotations

from kproxy.app.reload import apply
from tests.unit.app.living import HOST
from tests.unit.cluster.test_epochs import described, two


async def test_a_reload_without_the_active_upstream() -> None:
    """The first one of the new list is active, and failovers go on from there."""
    async with two() as life:
        servers = [
            {"name": name, "bootstrap_servers": f"{HOST}:{broker.port}"}
            for name, broker in (("new", life.b), ("b", life.a))
        ]
        config = described(life.a, life.b, cluster={"upstreams": servers}, admin=life.alive.listens)
        await apply(life.alive.life, config)
        assert (life.cluster.active.name, life.cluster.cluster_id) == ("new", "B")
        assert await life.alive.get("/readyz") == {"state": "ready", "reasons": []}
        life.cluster.rebootstrap.epoch.floor = 0.0
        assert (await life.post("failover"))[1]["upstream"] == "b"
        assert life.cluster.cluster_id == "A"
