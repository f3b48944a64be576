"""kproxy.compiled, and the guard of `make test-compiled`: which modules these tests run is what was asked for."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import kproxy
from kproxy.cli import main
from kproxy.compiled import is_compiled
from kproxy.markers import COMPILED, marked
from tests.support.every import every

ROOT = Path(__file__).parents[2]
WANTED = os.environ.get("TEST_COMPILED") == "1"
MODULES = marked(COMPILED)


@every("path", MODULES)
def test_the_modules_under_test_are_those_wanted(path: str) -> None:
    """Extension modules under `make test-compiled`; otherwise the sources, and no stale extension beside them."""
    file = importlib.import_module(path.removesuffix(".py").replace("/", ".")).__file__
    assert file is not None
    assert file.endswith(tuple(EXTENSION_SUFFIXES)) == WANTED, file


@every("path", MODULES)
def test_no_slice_has_bounds_that_do_something(path: str) -> None:
    """Compiled, a call within a slice's bounds is made twice (mypyc 2.4): a socket that is read there loses bytes."""
    source = (Path(kproxy.__file__).parents[1] / path).read_text()
    slices = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Slice)]
    calls = [node for each in slices for node in ast.walk(each) if isinstance(node, ast.Call)]
    assert {ast.unparse(call.func) for call in calls} <= {"len", "min", "max"}


def test_it_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """--version tells an operator which of the two runs."""
    assert is_compiled() == WANTED
    main(["--version"])
    assert capsys.readouterr().out == f"kproxy {kproxy.__version__}{' (compiled)' if WANTED else ''}\n"


def test_it_loads_nothing_to_tell() -> None:
    """The question leaves the relay's modules unloaded, so that --version stays quick."""
    program = (
        "import sys; from kproxy.compiled import is_compiled; is_compiled(); "
        "print(sorted(name for name in sys.modules if name.startswith('kproxy.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['kproxy.compiled', 'kproxy.relay']\n"


def test_an_extension_module_is_recognised(tmp_path: Path) -> None:
    """A package whose relay has an extension module is compiled, one with sources alone or with nothing is not."""
    relay = tmp_path / "kproxy" / "relay"
    relay.mkdir(parents=True)
    for file in ("__init__.py", "compiled.py"):
        (relay.parent / file).write_bytes((Path(kproxy.__file__).parent / file).read_bytes())
    (relay / "__init__.py").touch()
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from kproxy.compiled import is_compiled; print(is_compiled())"
    )

    def told() -> str:
        command = [sys.executable, "-I", "-c", program, str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert told() == "False"
    (relay / "requests.py").touch()
    assert told() == "False"
    (relay / f"requests{EXTENSION_SUFFIXES[0]}").touch()
    assert told() == "True"
