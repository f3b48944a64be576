"""kproxy.markers: what a module's first line says of it, and who reads that."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.markers import COMPILED, PURE, first_line, marked, marks, module_name
from tests.support.pure_coverage import config


def module(directory: Path, first_line: str) -> Path:
    """A module with that first line."""
    path = directory / "made.py"
    path.write_text(f'{first_line}\n"""A module."""\n', encoding="utf-8")
    return path


def test_both_markers_are_found_in_this_package() -> None:
    """The lists are made of the modules themselves: what moves takes its marker along."""
    assert "kproxy/relay/requests.py" in marked(PURE)
    assert "kproxy/relay/requests.py" in marked(COMPILED)
    assert "kproxy/relay/pump.py" not in marked(PURE)
    assert "kproxy/markers.py" not in marked(PURE)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (first_line(PURE), {PURE}),
        (first_line(COMPILED), {COMPILED}),
        (first_line(PURE, COMPILED), {PURE, COMPILED}),
        ("# This module is pure.", {PURE}),
        ("# This module is pure", set()),
        ("", set()),
    ],
)
def test_a_first_line_says_it(tmp_path: Path, line: str, wanted: set[str]) -> None:
    """Anything else in the first line is no marker."""
    assert marks(module(tmp_path, line)) == wanted


def test_an_unknown_word_is_refused(tmp_path: Path) -> None:
    """A misspelt marker would take a module out of its gate without a sound."""
    with pytest.raises(ValueError, match="unknown marker purr; there are pure and compiled"):
        marks(module(tmp_path, "# This module is purr."))


def test_paths_become_module_names() -> None:
    """A package's own module is its name."""
    assert module_name("kproxy/wire/skim.py") == "kproxy.wire.skim"
    assert module_name("kproxy/wire/__init__.py") == "kproxy.wire"


def test_coverage_is_asked_for_the_same_modules() -> None:
    """`make coverage` gates what the import contract holds."""
    included = config().partition("include =\n")[2].partition("[report]")[0].split()
    assert included == marked(PURE)
