"""kproxy.pipeline.report.page: what stands on it, and what never does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser

import pytest

from kproxy.pipeline.report.page import notices, page, verdict
from kproxy.pipeline.report.sections.coverage import Coverage
from kproxy.pipeline.report.sections.shapes import Unanswered
from tests.unit.pipeline.report import contents
from tests.unit.pipeline.report.contents import HOSTILE, SINCE, UNTIL

EVERY = {
    "busy": contents.busy(),
    "hostile": contents.hostile(),
    "one point": contents.one_point(),
    "nothing": contents.nothing(contents.busy().coverage),
    "empty": contents.nothing(Coverage()),
}
_VOID = {"meta", "link", "br", "img", "input", "hr"}


class Elements(HTMLParser):
    """All elements and attributes of a page; fails where one is not closed in its place."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def elements(text: str) -> list[tuple[str, dict[str, str | None]]]:
    """The elements of a page."""
    parser = Elements()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser.found


def addresses(text: str) -> Iterator[str]:
    """Whatever a browser might ask for."""
    for _, attributes in elements(text):
        yield from (
            value or "" for name, value in attributes.items() if name in {"src", "href", "xlink:href", "action"}
        )
    yield from re.findall(r"url\(|@import", text.partition("</style>")[0])


@pytest.mark.parametrize("name", EVERY)
def test_it_needs_nothing_else(name: str) -> None:
    """No address but its own parts, no program, and no name given twice."""
    text = page(EVERY[name])
    found = elements(text)
    assert {address[:1] for address in addresses(text) if address != "data:,"} <= {"#"}
    assert not [tag for tag, _ in found if tag in {"script", "img", "iframe", "object"}]
    assert not [key for _, attributes in found for key in attributes if key.startswith("on")]
    ids = [attributes["id"] for _, attributes in found if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {(attributes["href"] or "")[1:] for tag, attributes in found if tag == "a"}
    assert links <= set(ids)


def test_hostile_names_are_text() -> None:
    """Each is there, and can be read."""
    text = page(EVERY["hostile"])
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "two\\nlines\\tand\\x00a\\x1bcontrol" in text
    assert "\\u202eevil\\u202c" in text
    assert "{{7*7}}" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", text)


def test_long_lists_are_cut() -> None:
    """And say how much is left out."""
    text = page(EVERY["busy"])
    assert "and 4 more of this rule" in text
    assert text.count("and 3 more</p>") == 1
    assert "and 133 more" in text


@pytest.mark.parametrize(
    ("severities", "text"),
    [
        ({"critical", "warning", "info"}, "Something is wrong"),
        ({"warning", "info"}, "There are warnings"),
        ({"info"}, "Nothing is urgent"),
        (set(), "Nothing was found"),
    ],
)
def test_the_verdict(severities: set[str], text: str) -> None:
    """The worst finding decides."""
    found = tuple(one for one in contents.FINDINGS if one.severity in severities)
    content = replace(contents.busy(), findings=found)
    assert verdict(content).text == text
    assert f'<h2 id="verdict">{text}</h2>' in page(content)


def test_the_worst_is_first() -> None:
    """Above the totals: each rule's worst finding, in a sentence."""
    text = page(EVERY["busy"])
    top = text[text.index('class="headlines"') : text.index('class="totals"')]
    assert [top.index(name) for name in ("payments-writer", "cron-0", "orders-api", "legacy-loader")] == sorted(
        top.index(name) for name in ("payments-writer", "cron-0", "orders-api", "legacy-loader")
    )
    assert "and 8 more: " in top


def test_no_data() -> None:
    """It is said where the data is, and how to look at it."""
    said = notices(contents.nothing(Coverage(None, None, SINCE - timedelta(days=9), SINCE - timedelta(days=2))))
    assert said == (
        "The tables have data from 2026-09-12 00:00 to 2026-09-19 00:00 UTC.",
        "Ask with --until 2026-09-19T00:01Z for the last of it.",
    )
    assert notices(EVERY["empty"]) == ("The tables are empty: kproxy pipeline run fills them.",)


def test_old_data() -> None:
    """A job that stands still is no healthy fleet."""
    old = Coverage(SINCE + timedelta(hours=1), UNTIL - timedelta(hours=3), None, None)
    assert notices(replace(contents.busy(), coverage=old)) == (
        "The newest event is of 2026-09-21 21:00 UTC, 3 h before the end of this time.",
        "The oldest data is of 2026-09-21 01:00 UTC.",
    )
    assert notices(contents.busy()) == ()


def test_old_pushes() -> None:
    """Events go on where a receiver stalls, and say nothing of that."""
    stalled = replace(contents.busy().coverage, last_push=UNTIL - timedelta(hours=2))
    assert notices(replace(contents.busy(), coverage=stalled)) == (
        "The newest push is of 2026-09-21 22:00 UTC, 2 h before the end of this time.",
    )


def test_unanswered() -> None:
    """A part that has no answer says why; the others are there."""
    content = contents.busy()
    groups, rollups = (Unanswered(f"There is no table {name}") for name in ("group_rebalances", "rollup_1h"))
    text = page(replace(content, sections=replace(content.sections, groups=groups, latency=rollups)))
    assert "There is no table group_rebalances." in text
    assert "There is no table rollup_1h." in text
    assert "Bytes through kproxy" in text


def test_json() -> None:
    """Plain values, also of hostile names."""
    plain = json.loads(json.dumps(contents.hostile().as_json()))
    assert [row["client_id"] for row in plain["churners"]["rows"][: len(HOSTILE)]] == list(HOSTILE)
    assert plain["fleet"]["starts"][1] == "2026-09-21T01:00:00+00:00"
    assert plain["findings"][0]["evidence"]["all"] == list(HOSTILE)


def test_sizes() -> None:
    """A page for a phone."""
    sizes = {name: len(page(content)) for name, content in EVERY.items()}
    assert max(sizes.values()) < 200_000, sizes
