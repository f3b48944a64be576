"""docs/admin.md says what the admin port answers, no more and no less."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kproxy.admin.models import Rebootstrap
from kproxy.admin.routes import ROUTES
from tests.unit.cli.running import printed

PAGE = (Path(__file__).parents[3] / "docs" / "admin.md").read_text()


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
        name, *flags = re.findall(r"kproxy ((?:telemetry )?[a-z]+)|(--[a-z]+)", written)
        _, shown, _ = printed(capsys, [*name[0].split(), "--help"])
        assert all(flag in shown for _, flag in flags), written
        assert "--admin" in shown
