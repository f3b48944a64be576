"""deploy/*.lock: exact, hashed, of no particular index, and within pyproject's ranges."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support import tools

DEPLOY = tools.ROOT / "deploy"
LOCKS = ("requirements.lock", "build-requirements.lock")
_ENTRY = re.compile(
    r"^(?P<pin>[^\s#][^\\]*?) \\\n(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)


def _pins(name: str) -> dict[str, str]:
    """Return each project's one version, of the entries that apply on any platform."""
    pins = {}
    for entry in _ENTRY.finditer((DEPLOY / name).read_text()):
        requirement = Requirement(entry["pin"])
        (specifier,) = requirement.specifier
        assert specifier.operator == "==", entry["pin"]
        pins[_normal(requirement.name)] = specifier.version
    return pins


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _ranges(requirements: list[str]) -> list[Requirement]:
    return [Requirement(text) for text in requirements]


@pytest.mark.parametrize("name", LOCKS)
def test_every_line_is_a_hashed_pin(name: str) -> None:
    """Nothing but pins with hashes and comments: no index, no URL, no option."""
    rest = _ENTRY.sub("", (DEPLOY / name).read_text())
    assert [line for line in rest.splitlines() if line and not line.lstrip().startswith("#")] == []
    assert "://" not in (DEPLOY / name).read_text()
    assert _pins(name)


def test_runtime_pins_satisfy_pyproject() -> None:
    """Each runtime dependency is locked to a version that its range allows."""
    project = tomllib.loads((tools.ROOT / "pyproject.toml").read_text())["project"]
    pins = _pins("requirements.lock")
    for requirement in _ranges(project["dependencies"]):
        assert requirement.specifier.contains(pins[_normal(requirement.name)]), requirement


def test_build_pins_satisfy_pyproject() -> None:
    """The build backend and what its hook compiles with are locked within their ranges; the source says the same."""
    project = tomllib.loads((tools.ROOT / "pyproject.toml").read_text())
    hook = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]
    wanted = project["build-system"]["requires"] + hook["dependencies"]
    source = [line for line in (DEPLOY / "build-requirements.in").read_text().splitlines() if not line.startswith("#")]
    assert source == wanted
    pins = _pins("build-requirements.lock")
    for requirement in _ranges(wanted):
        assert requirement.specifier.contains(pins[_normal(requirement.name)]), requirement


def test_locks_are_what_the_script_writes(tmp_path: Path) -> None:
    """deploy/tools/lock, run again over the present locks, changes nothing: no dependency was added or dropped."""
    for part in ("deploy/tools/lock", "deploy/tools/versions.env", "deploy/build-requirements.in", "pyproject.toml"):
        _copy(part, tmp_path)
    for name in LOCKS:
        _copy(f"deploy/{name}", tmp_path)
    tools.output(tmp_path / "deploy" / "tools" / "lock")
    for name in LOCKS:
        written = (tmp_path / "deploy" / name).read_text()
        assert written == (DEPLOY / name).read_text(), f"deploy/{name} is old: run deploy/tools/lock"


def _copy(part: str, target: Path) -> None:
    (target / part).parent.mkdir(parents=True, exist_ok=True)
    (target / part).write_bytes((tools.ROOT / part).read_bytes())
    (target / part).chmod((tools.ROOT / part).stat().st_mode)
