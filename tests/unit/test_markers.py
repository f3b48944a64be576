"""kproxy.markers: what a module's first line says of it, and who reads that."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.markers import COMPILED, PURE, first_line, marked, marks, module_name
from tests.support.pure_coverage import merged, missing


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


FOR_TYPES = '''
if TYPE_CHECKING:
    import trio


class Clock(Protocol):
    def now(self) -> float:
        ...


def clock() -> float:
    """Seconds."""
    ...


def half() -> float:
    return 0.5
'''
"""After the first line and the module's docstring: lines 4, 5, 8 to 10 and 15 never run, line 19 could."""


@pytest.mark.parametrize(
    ("lines", "branches", "wanted"),
    [
        ([], [], []),
        ([5, 10, 15], [[4, 5], [4, 8]], []),
        ([15, 19], [], ["19"]),
        ([], [[13, 15], [18, 19]], ["18->19"]),
    ],
)
def test_what_no_test_reached(tmp_path: Path, lines: list[int], branches: list[list[int]], wanted: list[str]) -> None:
    """It is named, but for what is there for the type checker."""
    package = tmp_path / "kproxy"
    package.mkdir()
    path = module(package, first_line(PURE))
    path.write_text(path.read_text(encoding="utf-8") + FOR_TYPES, encoding="utf-8")
    report = {"files": {"kproxy/made.py": {"missing_lines": lines, "missing_branches": branches}}}
    assert list(missing(report, tmp_path)) == [f"kproxy/made.py: not reached: {each}" for each in wanted]


def test_a_module_of_types_only(tmp_path: Path) -> None:
    """It is imported for the type checker alone."""
    package = tmp_path / "kproxy"
    package.mkdir()
    path = module(package, first_line(PURE))
    path.write_text(path.read_text(encoding="utf-8") + FOR_TYPES.partition("def clock")[0], encoding="utf-8")
    report = {"files": {"kproxy/made.py": {"missing_lines": [2, 4, 5, 8], "missing_branches": []}}}
    assert list(missing(report, tmp_path)) == []


def test_a_module_that_no_test_imports(tmp_path: Path) -> None:
    """It is not in the report, and named all the same; a module that is not pure is not."""
    package = tmp_path / "kproxy"
    package.mkdir()
    module(package, first_line(PURE))
    (package / "shell.py").write_text("import trio\n", encoding="utf-8")
    assert list(missing({"files": {}}, tmp_path)) == ["kproxy/made.py: no test imports it"]


def test_two_runs_reach_more_than_one() -> None:
    """What either has reached is reached, and what neither has is missing."""
    one = {"files": {"a.py": {"missing_lines": [1, 2], "missing_branches": [[1, 2]]}}}
    other = {"files": {"a.py": {"missing_lines": [2], "missing_branches": []}, "b.py": {**one["files"]["a.py"]}}}
    files = merged([one, other])["files"]
    assert files["a.py"] == {"missing_lines": [2], "missing_branches": []}
    assert files["b.py"] == one["files"]["a.py"]
