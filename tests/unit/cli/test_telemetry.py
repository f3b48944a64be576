"""kproxy.cli.telemetry: what is shown of clients' telemetry, and what is changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from kproxy.admin.models import SubscriptionView
from kproxy.errors import CommandError, ConflictError, InvalidArgumentError
from tests.unit.admin.memory_view import MemoryView, cluster_view, instance_view
from tests.unit.cli.running import printed
from tests.unit.cli.test_remote import Asking, ask, cells

__all__ = ["ask"]

SUBSCRIBE = ["telemetry", "subscribe", "new", "--cluster", "main"]


async def test_subscriptions(view: MemoryView, ask: Asking) -> None:
    """Of every virtual cluster that has telemetry, with who sets each."""
    view.subscribed["java"] = SubscriptionView(
        "java", ("", "b."), 1500, {"client_id": "a.*", "client_software_name": "j"}, False
    )
    code, out, err = await ask("telemetry", "subscriptions")
    assert (code, err) == (0, "")
    assert [cells(line) for line in out.splitlines()] == [
        ["Virtual cluster", "Name", "Metrics", "Interval", "Match", "Fixed"],
        ["main", "all", "*", "300s", "yes"],
        ["main", "java", "*, b.", "1.5s", "client_id=a.*, client_software_name=j"],
    ]


async def test_instances(view: MemoryView, ask: Asking) -> None:
    """Who pushes, what, and what went wrong last; what is not known is left empty."""
    view.pushing = [
        instance_view(1),
        replace(
            instance_view(2),
            client_id=None,
            last_push=None,
            last_error=None,
            last_error_reason=None,
            dropped_points=0,
            subscriptions=(),
            pushes=0,
            bytes=0,
        ),
    ]
    code, out, err = await ask("telemetry", "instances", "--cluster", "main")
    assert (code, err) == (0, "")
    java, pushed = "apache-kafka-java 4.3.1", "2026-01-02T03:04:04.000+00:00"
    head, one, other = [cells(line) for line in out.splitlines()]
    assert head[:4] == ["Virtual cluster", "Instance", "Client", "Client id"]
    assert head[-3:] == ["Bytes", "Last error", "Dropped points"]
    assert one[:4] == ["main", "AAAAAAAAAAAAAAAAAAAAAQ", "192.0.2.1:1", "producer-001"]
    refused = "TELEMETRY_TOO_LARGE: more than 64 attributes in one message"
    assert one[4:] == [java, "all, java", pushed, "2", "3000", refused, "12: address_share"]
    assert other == ["main", "AAAAAAAAAAAAAAAAAAAAAg", "192.0.2.1:2", java, "0", "0"]


async def test_every_page_of_instances(view: MemoryView, ask: Asking) -> None:
    """However many there are, once each, with their virtual cluster."""
    view.pushing = [instance_view(number) for number in range(1, 2_501)]
    _, out, _ = await ask("telemetry", "instances", "--json")
    found = json.loads(out)["instances"]
    assert [instance["id"] for instance in found] == [instance.id for instance in view.pushing]
    assert {instance["cluster"] for instance in found} == {"main"}


@pytest.mark.parametrize(
    ("flags", "made"),
    [
        (["--metrics", "*"], SubscriptionView("new", ("*",), 300_000, {}, False)),
        (
            ["--metrics", "a., b.", "--metrics", "c", "--interval", "1m"],
            SubscriptionView("new", ("a.", "b.", "c"), 60_000, {}, False),
        ),
        (
            ["--metrics", "", "--match", "client_id=a=b", "--match", "client_software_name=x.*", "--interval", "500ms"],
            SubscriptionView("new", ("*",), 500, {"client_id": "a=b", "client_software_name": "x.*"}, False),
        ),
    ],
)
async def test_subscribe(view: MemoryView, ask: Asking, flags: Sequence[str], made: SubscriptionView) -> None:
    """As the flags say, and a line that says when clients know."""
    code, out, err = await ask(*SUBSCRIBE, *flags)
    assert (code, out, err) == (0, "main: new: clients learn of it at their next push\n", "")
    assert view.subscribed["new"] == made


async def test_unsubscribe(view: MemoryView, ask: Asking) -> None:
    """It is gone; what is not there is refused."""
    await ask(*SUBSCRIBE, "--metrics", "*")
    command = ["telemetry", "unsubscribe", "new", "--cluster", "main"]
    assert await ask(*command) == (0, "main: new: gone\n", "")
    assert list(view.subscribed) == ["all"]
    assert await ask(*command) == (1, "", "main has no subscription 'new'; there are: all\n")


async def test_as_json(ask: Asking) -> None:
    """What the API answers, for scripts."""
    _, made, _ = await ask(*SUBSCRIBE, "--metrics", "*", "--json")
    assert json.loads(made)["interval_ms"] == 300_000
    _, gone, _ = await ask("telemetry", "unsubscribe", "new", "--cluster", "main", "--json")
    assert json.loads(gone) == {"cluster": "main", "name": "new"}
    _, listed, _ = await ask("telemetry", "subscriptions", "--json")
    assert [subscription["name"] for subscription in json.loads(listed)["subscriptions"]] == ["all"]


async def test_names_with_anything_in_them(view: MemoryView, ask: Asking) -> None:
    """They are one segment of a path, and come back as they were."""
    name = "a b?c#d%2F"
    code, _, _ = await ask("telemetry", "subscribe", name, "--cluster", "main", "--metrics", "*")
    assert (code, name in view.subscribed) == (0, True)


@pytest.mark.parametrize(
    ("refusal", "line"),
    [
        (InvalidArgumentError("match: unknown key 'a'"), "match: unknown key 'a'\n"),
        (ConflictError("there are 1000 subscriptions already"), "there are 1000 subscriptions already\n"),
    ],
)
async def test_a_refusal(view: MemoryView, ask: Asking, refusal: CommandError, line: str) -> None:
    """The proxy's own words on standard error, exit code 1."""
    view.refusal = refusal
    assert await ask(*SUBSCRIBE, "--metrics", "*") == (1, "", line)


async def test_what_the_configuration_sets(ask: Asking) -> None:
    """It is changed there."""
    expected = (1, "", "all stands in kproxy's configuration: change it there\n")
    assert await ask("telemetry", "unsubscribe", "all", "--cluster", "main") == expected


@pytest.mark.parametrize("command", ["subscriptions", "instances"])
async def test_no_telemetry(view: MemoryView, ask: Asking, command: str) -> None:
    """Of that virtual cluster, or at all: exit code 1."""
    said = await ask("telemetry", command, "--cluster", "other")
    assert said == (1, "", "other: kproxy serves no telemetry for it\n")
    view.virtual = (cluster_view("other"),)
    said = await ask("telemetry", command)
    assert said == (1, "", "kproxy serves no telemetry: its configuration has no `telemetry` block\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["subscribe", "a", "--metrics", "*"], "Missing option '--cluster'. (see kproxy telemetry subscribe --help)"),
        (["subscribe", "a", "--cluster", "b"], "Missing option '--metrics'. (see kproxy telemetry subscribe --help)"),
        (["unsubscribe", "a"], "Missing option '--cluster'. (see kproxy telemetry unsubscribe --help)"),
        (
            ["subscribe", "a", "--cluster", "b", "--metrics", "*", "--interval", "soon"],
            "Invalid value for --interval: 'soon' is not a duration",
        ),
        (
            ["subscribe", "a", "--cluster", "b", "--metrics", "*", "--match", "client_id"],
            "Invalid value for --match: 'client_id' is not of the form KEY=REGEX",
        ),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], arguments: Sequence[str], line: str) -> None:
    """One line, exit code 2, before anything is asked."""
    code, out, err = printed(capsys, ["telemetry", *arguments])
    assert (code, out) == (2, "")
    assert err.startswith(line)
    assert err.count("\n") == 1
