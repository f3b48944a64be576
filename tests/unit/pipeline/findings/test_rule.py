"""kproxy.pipeline.findings.rule: what fits together, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from kproxy.pipeline.findings import queries
from kproxy.pipeline.findings.rule import Limit, Rule
from kproxy.pipeline.findings.rules import RULES
from kproxy.pipeline.tables import TABLES
from tests.support.every import every

RULE = Rule(
    name="some-rule",
    help="It finds something",
    kind="client",
    severity="info",
    query="SELECT cluster, client_id AS subject FROM clients WHERE last_seen > :since",
    reason="{subject} is there",
    advice="nothing",
)


def last_select(query: str) -> list[str]:
    """The columns of the outermost SELECT, by their names; `*` where it takes those of another one."""
    depth, starts, begin = 0, [], 0
    for match in re.finditer(r"[()]|\bSELECT\b", query):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] == "SELECT" and depth == 0:
            starts.append(match.end())
    begin = starts[-1]
    items, item = [], ""
    for token in re.findall(r"'[^']*'|[(),]|\bFROM\b|[^(),'\s]+|\s+", query[begin:]):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth == 0 and token in {",", "FROM"}:
            items.append(item.strip().split()[-1].split(".")[-1])
            item = ""
            if token == "FROM":
                return items
        else:
            item += token
    return [*items, item.strip().split()[-1].split(".")[-1]]


@every("rule", RULES, ids=lambda rule: rule.name)
def test_a_built_in_rule(rule: Rule) -> None:
    """Its words name columns of its query, or limits; it reads tables of the contract, and only in its window."""
    columns = last_select(rule.query)
    missing = {"cluster", "subject", *rule.fields} - rule.values.keys() - set(columns)
    assert not missing or "*" in columns
    assert [name for name in missing if not re.search(rf"\b{name}\b", rule.query)] == []
    assert queries.tables(rule.query)
    assert {"since", "until"} <= queries.parameters(rule.query)
    assert not rule.help.endswith(".")
    assert not rule.reason.endswith(".")


def test_names_are_used_once() -> None:
    """The table `findings` has the names."""
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)


def test_no_limit_has_the_name_of_a_time() -> None:
    """These are given."""
    assert not [rule.name for rule in RULES if {"since", "until"} & rule.values.keys()]


def test_fields() -> None:
    """Of both templates, without their formats and their parts."""
    assert replace(RULE, reason="{a:.1f} {b[0]} {{no}} {c.d!r}", advice="{e}").fields == {"a", "b", "c", "e"}


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ({"name": "Some Rule"}, "rule 'Some Rule': a name has small letters, digits and single hyphens"),
        ({"kind": "topic"}, "rule 'some-rule': kind 'topic' is none of client, group, broker, version, proxy"),
        ({"severity": "dire"}, "rule 'some-rule': severity 'dire' is none of critical, warning, info"),
        (
            {"query": "SELECT :least"},
            "rule 'some-rule': its query asks for :least, which is neither since, until nor a limit",
        ),
        ({"limits": (Limit("least", 3, "of them"),)}, "rule 'some-rule': its limit least is not in its query"),
        ({"reason": "{} is there"}, "rule 'some-rule': template '{} is there': a field needs the name of a column"),
        ({"advice": "{0} is there"}, "rule 'some-rule': template '{0} is there': a field needs the name of a column"),
        ({"reason": "{subject"}, "rule 'some-rule': template '{subject': expected '}' before end of string"),
        ({"needs": (Limit("since", 3, "h"),)}, "rule 'some-rule': its limit since has the name of a time"),
    ],
)
def test_what_does_not_fit(part: dict[str, object], problem: str) -> None:
    """It is refused when the rule is made, in a line with its name."""
    with pytest.raises(ValueError, match=re.escape(problem)):
        replace(RULE, **part)  # type: ignore[arg-type]


def test_tables_exist() -> None:
    """A query reads tables of the contract, and its own expressions."""
    for rule in RULES:
        own = set(re.findall(r"(\w+)(?:\([^)]*\))? AS \(\n", rule.query))
        read = set(re.findall(r"\b(?:FROM|JOIN) (\w+)", rule.query))
        assert read - own <= set(TABLES), rule.name
