"""The build hook `custom` of hatchling: compiles the modules that are marked `compiled` with mypyc into the wheel.

It is off unless HATCH_BUILD_HOOK_ENABLE_CUSTOM=1. It compiles a copy of the sources outside the tree: an extension
module that lay beside its .py would take its place for whoever imports from the tree, and go stale with the next edit.
"""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PACKAGE: Final = "kproxy"
# Alone with the standard library's types, the outcome depends on nothing but sources and compiler; `make check` has
# judged the types of everything else.
_MYPY: Final = ("--config-file=", "--no-site-packages", "--ignore-missing-imports", "--follow-imports=silent")
# Not small code, which a cold request finds sooner: counts of references would be calls.
# docs/maintainers/performance-log.md, Optimised.
# Without symbols, which nothing reads: a tenth of the size. The environment may say otherwise.
_COMPILER: Final = {"MYPYC_OPT_LEVEL": "3", "MYPYC_DEBUG_LEVEL": "0", "LDFLAGS": "-Wl,--strip-all"}
# In mypyc's one file of half a million lines, GCC 12 takes 190 s for this check, of 217 s in all at -O0.
_WITHOUT_A_CHECK: Final = "-Wno-misleading-indentation"


class CompileHook(BuildHookInterface[Any]):
    """Adds extension modules beside the sources that they were made of, so that tracebacks still show the lines."""

    _directory: tempfile.TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; raises RuntimeError with the compiler's words. Editable installs run the tree as it is."""
        if version == "editable":
            return
        self._directory = tempfile.TemporaryDirectory(prefix="kproxy-mypyc-")
        root = Path(self._directory.name)
        package = Path(self.root) / _PACKAGE
        compile_copy(package, root, _marked(package))
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        made = [*root.glob("*.so"), *(root / _PACKAGE).rglob("*.so")]
        build_data["force_include"].update({str(path): str(path.relative_to(root)) for path in made})

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The wheel holds what was compiled: the copy can go."""
        del version, build_data, artifact_path
        if self._directory is not None:
            self._directory.cleanup()


def _marked(package: Path) -> list[str]:
    """The modules to compile; raises RuntimeError where there is none."""
    markers = runpy.run_path(str(package / "markers.py"))
    modules: list[str] = markers["marked"](markers["COMPILED"], package)
    if not modules:
        raise RuntimeError("no module is marked compiled (kproxy/markers.py)")
    return modules


def compile_copy(package: Path, root: Path, modules: list[str]) -> None:
    """Copy the package's sources below `root` and leave there one extension module for each of the modules' paths."""
    shutil.copytree(package, root / package.name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    command = [sys.executable, "-m", "mypyc", *_MYPY, *modules]
    environment = _COMPILER | os.environ | {"CFLAGS": f"{os.environ.get('CFLAGS', '')} {_WITHOUT_A_CHECK}"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"mypyc failed (it needs a C compiler and Python's headers):\n{done.stdout}{done.stderr}")
    if missing := [path for path in modules if not list((root / path).parent.glob(f"{Path(path).stem}.*.so"))]:
        raise RuntimeError(f"mypyc left no extension module for {', '.join(missing)}")
