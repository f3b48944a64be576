"""kproxy.pipeline.findings.installed: rules of other packages, which are really installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kproxy.cli import main
from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.findings import installed
from kproxy.pipeline.findings.rules import RULES

MODULE = """
from kproxy.pipeline.findings.rule import Rule

def rule(name):
    query = "SELECT cluster, client_id AS subject FROM clients"
    return Rule(name=name, help="Acme's own", kind="client", severity="info", query=query, reason="r", advice="a")

ONE = rule("acme-one")
TWO = [rule("acme-two"), rule("acme-three")]
TWICE = [rule("acme-one"), rule("acme-one")]
TAKEN = rule("rebalance-storm")
MIXED = [ONE, "rule"]
TEXT = "rule"
"""


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package on the path; `entry` adds its entry point."""
    (tmp_path / "acme_rules.py").write_text(MODULE)
    (tmp_path / "acme_broken.py").write_text("import acme_missing\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in ("acme_rules", "acme_broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def entry(place: Path, *values: str) -> None:
    """Install the package with these entry points."""
    info = place / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    points = "\n".join(f"rules{number} = {value}" for number, value in enumerate(values))
    (info / "entry_points.txt").write_text(f"[{installed.ENTRY_POINTS}]\n{points}\n")


def test_without_packages() -> None:
    """There are kproxy's own."""
    assert installed.rules() == RULES


def test_a_package(acme: Path) -> None:
    """Its rules come after kproxy's."""
    entry(acme, "acme_rules:ONE", "acme_rules:TWO")
    assert [rule.name for rule in installed.rules()[len(RULES) :]] == ["acme-one", "acme-two", "acme-three"]


def test_some(acme: Path) -> None:
    """By their names, from both."""
    entry(acme, "acme_rules:ONE")
    assert [rule.name for rule in installed.rules(["acme-one", "clock-wrong"])] == ["clock-wrong", "acme-one"]


def test_an_unknown_name() -> None:
    """A line says where the names are."""
    with pytest.raises(PipelineError) as refused:
        installed.rules(["clock-right"])
    assert str(refused.value) == "rule 'clock-right': there is none of this name; `kproxy pipeline rules` lists them"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("acme_rules:NONE", " do not load: AttributeError: module 'acme_rules' has no attribute 'NONE'"),
        ("acme_broken:RULES", " do not load: ModuleNotFoundError: No module named 'acme_missing'"),
        ("acme_rules:TEXT", ": it is a str, not a Rule or a list of Rules"),
        ("acme_rules:MIXED", ": it is a list of Rule, str, not a Rule or a list of Rules"),
        ("acme_rules:TAKEN", ": there is another rule 'rebalance-storm'; give it another name"),
        ("acme_rules:TWICE", ": there is another rule 'acme-one'; give it another name"),
        ("acme_rules:rule('No Name')", None),
    ],
)
def test_a_bad_one(acme: Path, value: str, problem: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    """A line names the entry point and its package, also on the command line."""
    entry(acme, value)
    with pytest.raises(PipelineError) as refused:
        installed.rules()
    where = f"rules of the entry point rules0 = {value} (package acme)"
    assert str(refused.value).startswith(where)
    assert problem is None or str(refused.value) == where + problem
    assert "\n" not in str(refused.value)
    assert main(["pipeline", "rules"]) == 2
    assert capsys.readouterr().err == f"pipeline: {refused.value}\n"


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    """Each rule with what it needs."""
    assert main(["pipeline", "rules"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")}
    assert {rule.name for rule in RULES} <= lines.keys()
    assert "3 slow rebalances" in lines["rebalance-waits-for-member"]
