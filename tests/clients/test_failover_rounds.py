"""The judge of rounds itself, and its table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.support import rounds_table
from tests.support.rounds import Result

WHO = ("java", "4.3.1")


def judged(where: str, acked: list[str], failed: list[str], east: list[str], west: list[str]) -> rounds_table.Seen:
    """What is said of one round, with these values in the logs."""
    result = Result(1, acked, dict.fromkeys(failed, "Error: of a kind"), 0, 1.0)
    (seen,) = rounds_table.judge([(WHO, where, result)], {"east": Counter(east), "west": Counter(west)})
    return seen


def test_lost() -> None:
    """Acknowledged, and in neither log; what failed is not missed."""
    seen = judged("2: to west", ["a", "b"], ["c"], [], ["a"])
    assert (seen.lost, seen.doubled, seen.elsewhere, seen.undead) == (["b"], [], [], [])


def test_written_twice() -> None:
    """In one log or in both, acknowledged or not."""
    assert judged("2: to west", ["a", "b"], ["c"], ["b", "c", "c"], ["a", "b"]).doubled == ["b", "c"]


def test_at_the_other_side() -> None:
    """What was acknowledged is to be at the side that was active."""
    assert judged("2: to west", ["a", "b"], ["c"], ["b", "c"], ["a"]).elsewhere == ["b"]
    assert judged("1: at east", ["a", "b"], ["c"], ["b", "c"], ["a"]).elsewhere == ["a"]


def test_failed_and_there_all_the_same() -> None:
    """What a consumer reads of records that their producer was told to be lost."""
    assert judged("2: to west", ["a"], ["b", "c"], ["b"], ["a"]).undead == ["b"]


def test_what_is_wrong_is_named() -> None:
    """By round and kind, and only what was asked for."""
    rounds = [judged("1: at east", ["a"], [], ["a"], []), judged("2: to west", ["a", "b"], [], ["a"], [])]
    assert rounds_table.wrong(rounds, "lost", "doubled") == {"2: to west": {"lost": ["b"]}}
    assert rounds_table.wrong(rounds, "elsewhere", "doubled") == {"2: to west": {"elsewhere": ["a"]}}


def test_parts_of_a_round() -> None:
    """A transaction that begins before a switch and ends after it is one round."""
    begun, ended = Result(2, [], {"a": "Error: early"}, 1, 0.5), Result(2, ["b"], {"c": "Error: late"}, 2, 1.0)
    assert begun.then(ended) == Result(2, ["b"], {"a": "Error: early", "c": "Error: late"}, 3, 1.5)


def test_table(tmp_path: Path) -> None:
    """A row a round, errors counted by kind; each title stands once, with its newest table."""
    path = tmp_path / "build" / "t.md"
    rounds_table.write(path, "Producers", [judged("9: to west", ["a"], [], [], ["a"])])
    rounds_table.write(path, "Others", [])
    rows = rounds_table.write(path, "Producers", [judged("2: to west", ["a", "b"], ["c", "d"], ["c"], ["a"])])
    expected = "| java | 4.3.1 | 2: to west | 2 | 1 | 0 | 2 | 1 | Error: of a kind × 2 | 0 | 1.0 |"
    assert rows.splitlines()[-1] == expected
    text = path.read_text()
    assert text.count("\n## ") == 2
    assert "9: to west" not in text
