"""kproxy.admin.telemetry_view: pages of instances, of which there may be 16,384."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import cast
from uuid import UUID

import pytest

from kproxy.admin import turns
from kproxy.admin.telemetry import instance_id
from kproxy.admin.telemetry_view import instances
from kproxy.telemetry.client_telemetry import ClientTelemetry
from kproxy.telemetry.instances import Instance, Instances
from kproxy.telemetry.subscriptions import Subscriptions
from tests.unit.admin.steps import counted
from tests.unit.telemetry.clients import JAVA, NOW


async def test_instances_are_looked_for_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """With turns of no length a step looks at one; the page is right, whatever came in which order."""
    monkeypatch.setattr(turns, "SECONDS", 0.0)
    known, present = Instances(), Subscriptions()
    for number in random.Random(1).sample(range(50), 50):
        info = JAVA._replace(client_instance_id=UUID(int=number))
        known.see(Instance(info, present.of(info), 1), NOW)
    served = cast("ClientTelemetry", SimpleNamespace(core=SimpleNamespace(instances=known, subscriptions=present)))
    with counted() as steps:
        page = await instances(served, UUID(int=10), 5)
    assert steps.number >= 50
    assert [instance_id(shown.id).int for shown in page] == [11, 12, 13, 14, 15]
    assert [instance_id(shown.id).int for shown in await instances(served, None, 2)] == [0, 1]
    assert len(list(await instances(served, UUID(int=10), 100))) == 39
