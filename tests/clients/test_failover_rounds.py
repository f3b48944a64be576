"""The comparison of rounds with the logs, and its table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.support import rounds_table
from tests.support.rounds import Result

WHO = ("java", "4.3.1")


def compared(where: str, acked: list[str], failed: list[str], east: list[str], west: list[str]) -> rounds_table.Seen:
    """Return what is found of one round, with these values in the logs."""
    result = Result(1, acked, dict.fromkeys(failed, "Error: of a kind"), 0, 1.0)
    (seen,) = rounds_table.compare([(WHO, where, result)], {"east": Counter(east), "west": Counter(west)})
    return seen


def test_lost() -> None:
    """A lost record is acknowledged and in neither log; a failed one is not missed."""
    seen = compared("2: to west", ["a", "b"], ["c"], [], ["a"])
    assert (seen.lost, seen.doubled, seen.elsewhere, seen.undead) == (["b"], [], [], [])


def test_written_twice() -> None:
    """A doubled record is twice in one log or in both, acknowledged or not."""
    assert compared("2: to west", ["a", "b"], ["c"], ["b", "c", "c"], ["a", "b"]).doubled == ["b", "c"]


def test_at_the_other_side() -> None:
    """An acknowledged record must be at the side that was active."""
    assert compared("2: to west", ["a", "b"], ["c"], ["b", "c"], ["a"]).elsewhere == ["b"]
    assert compared("1: at east", ["a", "b"], ["c"], ["b", "c"], ["a"]).elsewhere == ["a"]


def test_failed_and_there_all_the_same() -> None:
    """A record that failed for its producer is in a log all the same: a consumer reads it."""
    assert compared("2: to west", ["a"], ["b", "c"], ["b"], ["a"]).undead == ["b"]


def test_what_is_wrong_is_named() -> None:
    """Wrong values are named by round and kind, and only the kinds that were asked for."""
    rounds = [compared("1: at east", ["a"], [], ["a"], []), compared("2: to west", ["a", "b"], [], ["a"], [])]
    assert rounds_table.wrong(rounds, "lost", "doubled") == {"2: to west": {"lost": ["b"]}}
    assert rounds_table.wrong(rounds, "elsewhere", "doubled") == {"2: to west": {"elsewhere": ["a"]}}


def test_parts_of_a_round() -> None:
    """A transaction that begins before a switch and ends after it is one round."""
    begun, ended = Result(2, [], {"a": "Error: early"}, 1, 0.5), Result(2, ["b"], {"c": "Error: late"}, 2, 1.0)
    assert begun.then(ended) == Result(2, ["b"], {"a": "Error: early", "c": "Error: late"}, 3, 1.5)


def test_table(tmp_path: Path) -> None:
    """The table has a row for each round, errors counted by kind; each title appears once, with its newest table."""
    path = tmp_path / "build" / "t.md"
    rounds_table.write(path, "Producers", [compared("9: to west", ["a"], [], [], ["a"])])
    rounds_table.write(path, "Others", [])
    rows = rounds_table.write(path, "Producers", [compared("2: to west", ["a", "b"], ["c", "d"], ["c"], ["a"])])
    expected = "| java | 4.3.1 | 2: to west | 2 | 1 | 0 | 2 | 1 | Error: of a kind × 2 | 0 | 1.0 |"
    assert rows.splitlines()[-1] == expected
    text = path.read_text()
    assert text.count("\n## ") == 2
    assert "9: to west" not in text
