"""The page is what the record says."""

from __future__ import annotations

import pytest

from tests.clients_table.record import KEPT, WAYS, WORKS, Runs, Ways, differing, dumped, loaded
from tests.clients_table.table import PAGE, cell, with_table
from tests.support.client_releases import ALL

WORKING = dict.fromkeys(WAYS, WORKS)
FAILING = dict.fromkeys(WAYS, "UnsupportedVersion: v0")
CUT_OFF: Ways = {**WORKING, "hosted": "EOF"}
RECORD = {
    "2.8.2": Runs("2026-01-01", {"java-2.8.2": WORKING}),
    "4.3.1": Runs(
        "2026-01-02", {"kafka-go-0.4.51": CUT_OFF, "java-2.8.2": FAILING, "sarama-1.61.1-at-0.9.0.1": WORKING}
    ),
    "4.3.1 PLAIN": Runs("2026-01-03", {"java-2.8.2": WORKING}),
}
MARKS = "before\n<!-- clients: written by `make clients-table` -->\nold\n<!-- end of clients -->\nafter\n"
PART = """before
<!-- clients: written by `make clients-table` -->

| client | told | Kafka 2.8.2 | Kafka 4.3.1 |
| --- | --- | --- | --- |
| kafka-go 0.4.51 | – | – | **direct, relayed only** |
| java 2.8.2 | – | yes | no |
| sarama 1.61.1 | 0.9.0.1 | – | yes |

At Kafka 4.3.1, 2026-01-02:

- kafka-go-0.4.51: hosted `EOF`
- java-2.8.2: `UnsupportedVersion: v0`

By SASL:

| client | told | Kafka 4.3.1 PLAIN |
| --- | --- | --- |
| java 2.8.2 | – | yes |

<!-- end of clients -->
after
"""


def test_the_part() -> None:
    """A row for each client, a column for each place, and what clients say that do not work; logins by themselves."""
    assert with_table(MARKS, RECORD) == PART


@pytest.mark.parametrize(
    ("ways", "said"),
    [
        (WORKING, "yes"),
        (FAILING, "no"),
        (CUT_OFF, "**direct, relayed only**"),
        ({**FAILING, "relayed": WORKS}, "**relayed only**"),
        (None, "–"),
    ],
)
def test_a_cell(ways: Ways | None, said: str) -> None:
    """What differs stands out."""
    assert cell(ways) == said


def test_what_differs() -> None:
    """A client that does not work directly is no finding about kproxy."""
    assert [one for runs in RECORD.values() for one in differing(runs)] == [("kafka-go-0.4.51", "hosted", "EOF")]


def test_the_kept_page() -> None:
    """It was made from its JSON, has every client that can be there at each place, and nothing that kproxy breaks."""
    text, page = KEPT.read_text(encoding="utf-8"), PAGE.read_text(encoding="utf-8")
    record = loaded(text)
    assert (dumped(record), with_table(page, record)) == (text, page)
    assert {place: [*runs.clients] for place, runs in record.items()} == {place: _able(place) for place in record}
    assert not [one for runs in record.values() for one in differing(runs)]


def _able(place: str) -> list[str]:
    mechanism = place.partition(" ")[2]
    return [str(one) for one in ALL if not mechanism or mechanism in one.mechanisms]
