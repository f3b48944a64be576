"""A reload that changes kproxy's identity: at once for kproxy's own client, and of no concern to others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from kproxy.app.reload import apply
from kproxy.config import Config
from kproxy.errors import IdentityError
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from tests.unit.app.living import HOST, Living, living, named_itself, settings
from tests.unit.relay.sockets import eventually
from tests.unit.upstream.sasl_broker import SaslBroker

USERS = {b"\0alice\0first-secret", b"\0alice\0second-secret"}


def checks(message: bytes) -> SaslAuthenticateResponse:
    """One user, of two passwords."""
    return SaslAuthenticateResponse(0 if message in USERS else 58, "unknown user")


def plain(password: str) -> dict[str, str]:
    """The user's identity."""
    return {"mechanism": "PLAIN", "username": "alice", "password": password}


def configured(broker: SaslBroker, admin: str | None = None, **others: Any) -> Config:
    """Return settings of one virtual cluster, whose upstream is called `main`."""
    changed = settings(broker, **({"admin": admin} if admin else {})).model_dump(mode="json")
    cluster = changed["clusters"][0] | others
    if "upstreams" in others:
        cluster["bootstrap_servers"] = []
    return Config.model_validate(changed | {"clusters": [cluster]})


@asynccontextmanager
async def serving(broker: SaslBroker, others: Callable[[], dict[str, Any]]) -> AsyncIterator[Living]:
    """Yield a process that is ready; `others` are settings of its virtual cluster, once the broker has a port."""
    async with trio.open_nursery() as nursery:
        await nursery.start(broker.run)
        named_itself(broker, 1)
        async with living(configured(broker, **others())) as alive:
            await alive.until_state("ready")
            yield alive
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("own", [False, True])
async def test_another_password(own: bool) -> None:
    """New connections have it; the watcher, its snapshot and the epoch stay, and so does a client."""
    broker = SaslBroker(checks)

    def identified(password: str) -> dict[str, Any]:
        identity = {"identity": plain(password)}
        upstream = {"name": "main", "bootstrap_servers": f"{HOST}:{broker.port}"}
        return {"upstreams": [upstream | identity]} if own else identity

    async with serving(broker, lambda: identified("first-secret")) as alive:
        cluster = alive.process.clusters[0]
        client, watcher = await alive.client(), cluster.upstreams.watcher
        await client.introduce("apache-kafka-java", "4.3.1")
        await apply(alive.process, configured(broker, alive.listens, **identified("second-secret")))
        seen = await polled(broker)
        assert set(broker.messages[seen:]) == {b"\0alice\0second-secret"}
        assert cluster.upstreams.watcher is watcher
        assert (cluster.epoch, list(cluster.upstreams.all)) == (0, ["main"])
        assert cluster.counters.closed == {}
        assert await alive.get("/readyz") == {"state": "ready", "reasons": []}


async def test_a_password_that_is_refused() -> None:
    """Nothing has changed."""
    broker = SaslBroker(checks)
    async with serving(broker, lambda: {"identity": plain("first-secret")}) as alive:
        with pytest.raises(IdentityError, match="unknown user"):
            await apply(alive.process, configured(broker, alive.listens, identity=plain("third-secret")))
        seen = await polled(broker)
        assert set(broker.messages[seen:]) == {b"\0alice\0first-secret"}
        assert await alive.get("/readyz") == {"state": "ready", "reasons": []}


async def polled(broker: SaslBroker) -> int:
    """Wait for more polls; return how many messages came before them, one that was under way among these."""
    seen = len(broker.messages) + 1
    await eventually(lambda: len(broker.messages) > seen, "more polls")
    return seen
