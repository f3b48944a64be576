"""The tables of clients in docs/authentication.md are those that tests/clients/tls/test_logins.py goes by."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.logins import CLIENTS, LOGINS, PAGE, REFUSALS, part, written

ROOT = Path(__file__).parents[3]


def test_the_page_is_up_to_date() -> None:
    """If not, run: python -m tests.support.logins."""
    page = (ROOT / PAGE).read_text()
    assert written(page) == page


def test_every_client_and_every_login_is_in_it() -> None:
    """A column for each client and a row for each login; a row for what each client says of a refusal."""
    works, says = part().split("\n\n")
    head, _, *rows = works.splitlines()
    assert head == f"|  | {' | '.join(CLIENTS.values())} |"
    assert [row.count(" yes |") for row in rows] == [len(CLIENTS)] * len(LOGINS)
    assert [row.split(" | ")[0] for row in says.splitlines()[2:]] == [f"| {CLIENTS[name]}" for name in REFUSALS]


def test_the_tests_that_the_page_names_are_there() -> None:
    """By their paths, or by their names where the same sentence has the directory."""
    page = (ROOT / PAGE).read_text()
    names = set(re.findall(r"`(?:tests/clients/\w+/)?(test_\w+\.py)`", page))
    assert names <= {file.name for file in (ROOT / "tests" / "clients").glob("*/test_*.py")}
    assert set(re.findall(r"`(tests/\S+\.py)`", page)) <= {
        str(file.relative_to(ROOT)) for file in (ROOT / "tests").rglob("*.py")
    }
