"""A watcher whose identity a broker refuses is blind: it does not say that the upstream is out of reach."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio
import trio.testing
from structlog.testing import capture_logs

from kproxy.config import Identity
from kproxy.topology.watcher import Watcher
from kproxy.upstream.client import UpstreamClient
from kproxy.wire.generated.sasl_authenticate_response import SaslAuthenticateResponse
from tests.unit.upstream.sasl_broker import SaslBroker
from tests.unit.upstream.scripted_broker import eventually

ALICE = Identity.model_validate({"mechanism": "PLAIN", "username": "alice", "password": "hunter2-hunter2"})
ACCEPTED, REFUSED = SaslAuthenticateResponse(), SaslAuthenticateResponse(58, "unknown user")


@asynccontextmanager
async def watching(broker: SaslBroker, interval: float = 0.05, floor: float = 0.02) -> AsyncIterator[Watcher]:
    """Yield a watcher of the broker, which is its only node; without jitter."""
    async with trio.open_nursery() as nursery:
        await nursery.start(broker.run)
        broker.name_nodes({1: broker.address})
        client = UpstreamClient([broker.address], rand=lambda: 0.0, identity=lambda: ALICE)
        await nursery.start(client.run)
        ignored: Callable[..., None] = lambda *_: None  # noqa: E731
        watcher = Watcher(
            client, interval=interval, jitter=0.0, floor=floor, on_change=ignored, on_reachability=ignored
        )
        await nursery.start(watcher.run)
        yield watcher
        nursery.cancel_scope.cancel()


async def test_a_refusal_says_nothing_about_the_upstream() -> None:
    """The reason is shown, and logged once; when the broker takes the identity, all is as ever."""
    verdict = REFUSED
    broker = SaslBroker(lambda _: verdict)
    with capture_logs() as logs:
        async with watching(broker) as watcher:
            await eventually(lambda: len(broker.messages) >= 3, "three polls")
            assert (watcher.upstream, watcher.last_error) == (None, None)
            assert "SASL_AUTHENTICATION_FAILED: unknown user" in str(watcher.blind)
            verdict = ACCEPTED
            await eventually(lambda: watcher.reachable is True and bool(watcher.nodes), "a poll and a probe")
            assert watcher.blind is None
            assert watcher.nodes[1].ok
            verdict = REFUSED
            await eventually(lambda: watcher.blind is not None, "a refusal")
            assert watcher.reachable is True
    assert [log["event"] for log in logs if log["log_level"] == "warning"] == ["kproxy cannot authenticate"] * 2
    assert "hunter2" not in str(logs)


async def test_a_node_that_refuses() -> None:
    """It is shown as out of reach, with the reason, since nothing else would tell."""
    broker = SaslBroker(lambda _: ACCEPTED)
    node = SaslBroker(lambda _: REFUSED)
    async with trio.open_nursery() as nursery:
        await nursery.start(node.run)
        async with watching(broker) as watcher:
            broker.name_nodes({1: broker.address, 2: node.address})
            await eventually(lambda: 2 in watcher.nodes, "the node was probed")
            assert (watcher.nodes[2].ok, watcher.reachable) == (False, True)
            assert "unknown user" in str(watcher.nodes[2].error)
        nursery.cancel_scope.cancel()


async def test_a_refused_identity_is_not_tried_more_often(mock_clock: trio.testing.MockClock) -> None:
    """Other troubles of kproxy's own shorten the wait to 5 s; refusals must not come so often that a user is locked."""
    broker = SaslBroker(lambda _: REFUSED)
    async with watching(broker, interval=32, floor=1) as _:
        for number, wait in enumerate((1, 2, 4, 8, 16, 32, 32), 1):
            while len(broker.messages) < number or broker.open:
                await trio.lowlevel.checkpoint()
            mock_clock.jump(wait - 0.5)
            await trio.testing.wait_all_tasks_blocked(0.01)
            assert len(broker.messages) == number
            mock_clock.jump(0.5)
