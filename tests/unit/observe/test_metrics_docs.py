"""docs/metrics.md describes exactly the exported metrics."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from kproxy.coordinator.states import Cause as OfGroups
from kproxy.coordinator.states import GroupState
from kproxy.errors import ErrorClass
from kproxy.observe.counters import ClusterCounters
from kproxy.observe.prometheus import registry_for, render
from kproxy.observe.reasons import EXPLAINED
from kproxy.rebootstrap.actions import Action, Cause
from tests.unit.observe.everything import everything

DOCS = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text()
PAGE = render(registry_for(everything()))[1].decode()


def rows(section: str) -> list[list[str]]:
    """Return the cells of all table rows under a heading, without head and rule."""
    text = DOCS.split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def comments(kind: str) -> dict[str, str]:
    """Return the texts of the scrape's HELP or TYPE lines by metric."""
    lines = (line.split(" ", 3) for line in PAGE.splitlines() if line.startswith(f"# {kind} "))
    return {line[2]: line[3] for line in lines}


def exported_labels() -> dict[str, set[str]]:
    """Return the labels of each metric, without `le`, which every histogram has."""
    found: dict[str, set[str]] = {name: set() for name in comments("TYPE")}
    for family in text_string_to_metric_families(PAGE):
        for sample in family.samples:
            name = sample.name if sample.name in found else re.sub("_(bucket|sum|count)$", "", sample.name)
            found[name] |= set(sample.labels) - {"le"}
    return found


def test_every_metric_is_described() -> None:
    """The docs have the same names, in the same order, with the same types."""
    assert [(row[0].strip("`"), row[1]) for row in rows("Every metric")] == list(comments("TYPE").items())


def test_help_is_the_description() -> None:
    """Help and docs share the text; the metrics of the process come from the library, with its own texts."""
    described = {row[0].strip("`"): row[3] for row in rows("Every metric")}
    helps = {name: text for name, text in comments("HELP").items() if name.startswith("kproxy_")}
    assert helps.items() <= described.items()
    assert len(helps) > 20


def test_labels_are_described() -> None:
    """Each metric's row has its labels, and each label has a row in the table of labels."""
    described = {row[0].strip("`"): set(re.findall("`(.+?)`", row[2])) for row in rows("Every metric")}
    assert described == exported_labels()
    explained = {label for row in rows("Labels") for label in re.findall("`(.+?)`", row[0])}
    assert explained == set.union(*described.values())


def test_reasons_are_described() -> None:
    """The table is the enum with its explanations."""
    assert [(row[0].strip("`"), row[1]) for row in rows("Reasons")] == [
        (r.value, text) for r, text in EXPLAINED.items()
    ]


def test_error_classes_are_described() -> None:
    """The docs have all classes of KIP-1050."""
    [row] = [row for row in rows("Labels") if row[0] == "`error_class`"]
    assert set(re.findall("`(.+?)`", row[1])) == {error_class.value for error_class in ErrorClass}


def test_words_of_rebootstrap_are_described() -> None:
    """The docs have every cause, every change and every counted means."""
    labels = {row[0].strip("`"): row[1] for row in rows("Labels")}
    described = {label: set(re.findall("`([a-z0-9_]+)`", values)) for label, values in labels.items()}
    assert described["cause"] == set(Cause) | set(OfGroups)
    assert re.findall("`([A-Z][A-Za-z]+)`", labels["state"]) == [str(state) for state in GroupState]
    assert described["means"] == set(Action) - {Action.SERVE}
    assert described["change"] == ClusterCounters("main").changes.keys()


def test_queries_ask_for_what_exists() -> None:
    """Every metric in an example query is exported, histograms by their buckets."""
    text = DOCS.split("\n## Questions to ask\n")[1]
    asked = {name.removesuffix("_bucket") for name in re.findall(r"\b(?:kproxy|process)_[a-z_]+", text)}
    assert asked
    assert asked <= set(comments("TYPE"))
