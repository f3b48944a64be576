"""The page in a real headless Chromium: in both themes, on a phone and on a desktop.

Screenshots are in build/report, for people to look at.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kproxy.pipeline.report.command import Report
from kproxy.pipeline.report.page import page
from tests.support import npm, tools
from tests.unit.pipeline.report import contents

pytestmark = [pytest.mark.node, pytest.mark.timeout(900)]  # whichever test is first waits for the browser
_SCRIPT = Path(__file__).parents[2] / "support" / "browser.js"
_SHOTS = tools.ROOT / "build" / "report"
_PAGES = ("day", "busy", "hostile", "one-point", "nothing")


@pytest.fixture(scope="module")
def looks(made: Report, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the browser saw, page by page, in each width and theme."""
    directory = tmp_path_factory.mktemp("pages")
    given = (
        made.page(),
        page(contents.busy()),
        page(contents.hostile()),
        page(contents.one_point()),
        page(contents.nothing(contents.busy().coverage)),
    )
    files = [directory / f"{name}.html" for name in _PAGES]
    for file, text in zip(files, given, strict=True):
        file.write_text(text, encoding="utf-8")
    _SHOTS.mkdir(parents=True, exist_ok=True)
    tools.ensure("chromium")
    browser = shutil.which("chromium")
    assert browser
    said = tools.output("node", _SCRIPT, npm.browser_tools(), browser, _SHOTS, *files, timeout=900)
    every: list[dict[str, Any]] = json.loads(said)
    return every


def found(looks: list[dict[str, Any]], what: str) -> dict[str, Any]:
    """Where there is something of it: page, width and theme."""
    return {f"{Path(each['page']).stem} {each['width']} {each['theme']}": each[what] for each in looks if each[what]}


def test_all_were_looked_at(looks: list[dict[str, Any]]) -> None:
    """Otherwise the tests below would judge nothing."""
    assert len(looks) == len(_PAGES) * 2 * 2
    assert all("kproxy report" in each["text"] for each in looks)


def test_the_console_is_silent(looks: list[dict[str, Any]]) -> None:
    """No error, no warning, no program that ran."""
    assert found(looks, "said") == {}


def test_no_request(looks: list[dict[str, Any]]) -> None:
    """The file, and nothing else."""
    assert [each["requests"] for each in looks] == [[Path(each["page"]).as_uri()] for each in looks]


def test_it_fits_the_screen(looks: list[dict[str, Any]]) -> None:
    """Nothing reaches beyond 360 pixels, but for wide tables, which scroll in their own box."""
    assert found(looks, "scrolls") == {}
    assert found(looks, "beyond") == {}


def test_labels_do_not_overlap(looks: list[dict[str, Any]]) -> None:
    """Those of an axis."""
    assert found(looks, "overlaps") == {}


def test_accessible(looks: list[dict[str, Any]]) -> None:
    """axe-core finds nothing serious, with everything open."""
    serious = [
        (each["page"], each["width"], each["theme"], one)
        for each in looks
        for one in each["violations"]
        if one["impact"] in {"serious", "critical"}
    ]
    assert serious == []
