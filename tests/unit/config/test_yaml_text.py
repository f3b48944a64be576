"""kproxy.config.document: data with its lines, and errors with line and column."""

from __future__ import annotations

import pytest

from kproxy.config.document import Document
from kproxy.config.yaml_text import parse_yaml
from kproxy.errors import ConfigError

TEXT = """\
# a comment
clusters:
  - name: a
    listen: "[::]:1"
  - &second
    name: b
limits: {max_connections: 1}
again: *second
"""


def test_lines() -> None:
    """A setting has its line, a list's item its content's, an absent setting that of the nearest one around it."""
    value, lines = parse_yaml(TEXT, "x")
    assert value["again"] == {"name": "b"}
    document = Document("x", value, lines)
    assert document.line(("clusters",)) == 2
    assert document.line(("clusters", 0, "listen")) == 4
    assert document.line(("clusters", 1, "name")) == 6
    assert document.line(("clusters", 0, "nodes", "ranges")) == 3
    assert document.line(("limits", "max_connections")) == 7
    assert document.line(("admin",)) is None
    assert document.line(()) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1\nb: 2\na: 3\n", "the key 'a' stands twice, first on line 1 (line 3, column 1)"),
        ("x:\n  - {a: 1, a: 2}\n", "the key 'a' stands twice, first on line 2 (line 2, column 12)"),
        ("a: [1, 2\nb: 3\n", "(line 2, column 2)"),
        ("a: b: c", "mapping values are not allowed"),
        ("a:\n\t- b", "found character that cannot start any token (line 2, column 1)"),
        ("listen: [::1]:9092", "did not find expected node content (line 1, column 10)"),
        (
            "a: 1\n---\nb: 2\n",
            "expected a single document in the stream, but found another document (line 2, column 1)",
        ),
        ("? [1]\n: 2\n", "a key must be text (line 1, column 3)"),
        ("yes: 2\n", "a key must be text (line 1, column 1)"),
        ("a: &x [*x]\n", "an alias contains itself (line 1, column 4)"),
        ("a: *b\n", "found undefined alias (line 1, column 4)"),
        ("a: !!python/object:os.system x", "could not determine a constructor for the tag"),
        ("a: 2020-13-45", "month must be in 1..12"),
        ("a: \x07", "control characters are not allowed"),
        ("[\n" * 200_000 + "]" * 200_000, "is nested too deeply (line 51, column 1)"),
        ("[" * 200_000 + "]" * 200_000, "nest"),  # on one line newer libyamls look ahead, and say it first
    ],
)
def test_mistakes(text: str, why: str) -> None:
    """Each error is one line with its place; the name comes first."""
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, "FILE")
    assert caught.value.key == "FILE"
    assert why in caught.value.reason
    assert "\n" not in str(caught.value)


def test_merge_keys_are_no_duplicates() -> None:
    """YAML's merge keys, which share settings between clusters, work; keys written beside them win."""
    text = "a: &a {x: 1, y: 2}\nb: &b\n  <<: *a\n  y: 3\nc:\n  <<: *b\n  x: 4\n"
    assert parse_yaml(text, "x")[0] == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}, "c": {"x": 4, "y": 3}}


def test_aliases_of_aliases_stay_small() -> None:
    """Nine levels of nine aliases each make 387 million values; each node is visited once."""
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 10)]
    value, lines = parse_yaml("\n".join(["l0: &l0 x", *levels]), "x")
    assert len(lines) == 10 + 9 * 9
    assert value["l9"][8][8][8][8][8][8][8][8] == ["x"] * 9
