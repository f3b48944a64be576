"""kproxy.cli.pipeline: what is missing is said in one line."""

from __future__ import annotations

import sys

import pytest

from tests.unit.cli.running import printed

RUN = ["pipeline", "run", "--input", "files:/", "--output", "x"]


def test_it_says_which_extra_it_needs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything starts."""
    for library in ("pyspark", "delta", "pyarrow", "numpy"):
        monkeypatch.setitem(sys.modules, library, None)
    missing = "pipeline: pyspark and delta and pyarrow and numpy missing: pip install 'kproxy[pipeline]'\n"
    assert printed(capsys, RUN) == (2, "", missing)


def test_it_needs_inputs_and_an_output(capsys: pytest.CaptureFixture[str]) -> None:
    """Both are named when they are missing."""
    code, out, error = printed(capsys, ["pipeline", "run", "--output", "x"])
    assert (code, out) == (2, "")
    assert "--input" in error
