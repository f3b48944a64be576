"""docs/admin.md says what the admin port answers, no more and no less."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kproxy.admin.limits import Limits
from kproxy.admin.models import Rebootstrap
from kproxy.admin.routes import ROUTES
from kproxy.admin.shared_page import MANY, OLD
from kproxy.admin.turns import AT_ONCE, SECONDS
from tests.unit.cli.running import printed

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "admin.md").read_text()


def rows(head: str) -> list[list[str]]:
    """The cells of the table that begins with this head."""
    lines = PAGE.partition(f"\n| {head} |")[2].splitlines()[2:]
    table = lines[: lines.index("")] if "" in lines else lines
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


def test_every_path() -> None:
    """All but the index, in the same order."""
    assert [row[0].strip("`") for row in rows("Method and path")] == [f"{r.method} {r.path}" for r in ROUTES[1:]]


def test_every_parameter() -> None:
    """What the index page names of a path, the page names too."""
    described = {row[0].strip("`").split()[1]: row[1] for row in rows("Method and path")}
    for route in ROUTES[1:]:
        for parameters in re.findall(r"\?[a-z&=A-Z]+", route.help):
            assert parameters in described[route.path], route.path


def test_every_means() -> None:
    """The words of the inventory."""
    assert [row[0].strip("`") for row in rows("`rebootstrap`")] == list(Rebootstrap)


def test_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Each exists, with each flag that is named."""
    for written, _ in rows("Command"):
        name, *flags = re.findall(r"kproxy ((?:telemetry |groups |faults )?[a-z]+)|(--[a-z-]+)", written)
        _, shown, _ = printed(capsys, [*name[0].split(), "--help"])
        assert all(flag in shown for _, flag in flags), written
        assert "--admin" in shown


def test_every_limit() -> None:
    """docs/security.md has the figures that are in force."""
    section = (DOCS / "security.md").read_text().partition("\n## The admin port\n")[2].partition("\n## ")[0]
    limits = Limits()
    for said in (
        f"At most {limits.connections}.",
        f"has {limits.grace_seconds * 1000:.0f} ms for its first bytes",
        f"of all places, for {limits.answer_grace * 1000:.0f} ms",
        f"A whole request has {limits.request_seconds} s",
        f"At most {AT_ONCE} are accepted",
        f"at most {limits.held_bytes >> 20} MiB",
        f"A response has {limits.response_seconds} s",
        f"| {limits.pages} at a time, in slices of {SECONDS * 1000} ms",
        f"{limits.queue} wait for at most {limits.queue_seconds} s",
        f"nothing for {limits.stall_seconds} s",
        f"While {MANY} wait, others get the last one, at most {OLD:.0f} s old",
        f"more than {limits.header_bytes >> 10} KiB or {limits.header_lines} lines",
        f"more than {limits.body_bytes >> 10} KiB",
        f"at most {limits.pages} pages and {limits.commands} commands",
    ):
        assert said in section, said
