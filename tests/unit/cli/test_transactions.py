"""kproxy.cli.transactions: what is asked, and what is printed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.unit.admin.memory_view import MemoryView, transactional_views
from tests.unit.cli.test_remote import Asking, ask, cells

__all__ = ["ask"]
AT = "2026-01-02T03:04:05Z"


async def test_table(view: MemoryView, ask: Asking) -> None:
    """A line for each, with what is known of it."""
    one, two = transactional_views("a", "b")
    unknown: dict[str, Any] = {"client_id": None, "partitions": None, "groups": ()}
    ended: dict[str, Any] = {"last_result": "aborted", "last_cause": "failover", "aborted": 1, "state": "aborted"}
    view.transactional = [replace(one, ending="committed", partitions=1), replace(two, **unknown, **ended)]
    code, out, err = await ask("transactions")
    assert (code, err) == (0, "")
    found = " ".join(out.split())
    first = f"main a begun, to be committed {AT} orders-1 at 192.0.2.1 1 partition, offsets of billing 0 0"
    assert first in found
    assert "TRANSACTION_ABORTABLE 1, last orders-0 at 192.0.2.1" in found
    assert f"main b aborted {AT} (no id) at 192.0.2.1 aborted by failover 0 1" in found
    assert cells(out.splitlines()[0])[:3] == ["Virtual cluster", "Transactional id", "State"]


async def test_filters(view: MemoryView, ask: Asking) -> None:
    """The flags are the API's filters; --json prints all pages."""
    names = [f"id-{number:04}" for number in range(1500)]
    (other,) = transactional_views("other", cluster="other")
    view.transactional = [*transactional_views(*names), replace(other, state="fenced")]

    async def found(*flags: str) -> list[str]:
        code, out, err = await ask("transactions", "--json", *flags)
        assert (code, err) == (0, "")
        return [one["transactional_id"] for one in json.loads(out)["transactions"]]

    assert await found("--cluster", "main") == names
    assert await found("--state", "fenced") == ["other"]
    assert await found("--fenced", "--cluster", "main") == ["id-0000"]
    code, _, err = await ask("transactions", "--state", "open")
    assert (code, "'open' is not one of" in err) == (2, True)
