"""kproxy.pipeline.session: a machine without a Java for Spark is told so in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.session import check_java

HOW = "Spark needs Java 17 or later: install it (Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME"


def refusal() -> str:
    """What is said of this machine's Java."""
    with pytest.raises(PipelineError) as refused:
        check_java()
    return str(refused.value)


def java(directory: Path, says: str) -> Path:
    """A program that says what a Java says of itself; the directory is its JAVA_HOME."""
    program = directory / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(0o755)
    return directory


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on the PATH nor where JAVA_HOME says."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refusal() == f"no Java on the PATH. {HOW}"
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert refusal() == f"no Java at JAVA_HOME={tmp_path}. {HOW}"


@pytest.mark.parametrize(
    ("says", "is_named"),
    [
        ('openjdk version "11.0.2"', 'openjdk version "11.0.2"'),
        ('java version "1.8.0_1"', 'java version "1.8.0_1"'),
        ("", "not a Java"),
    ],
)
def test_an_old_java(says: str, is_named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named as it names itself; what is no Java has no name."""
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path, says)))
    assert refusal() == f"{tmp_path}/bin/java is {is_named}. {HOW}"


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_a_java_that_will_do(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark can start."""
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path, f'openjdk version "{version}" 2025-04-15')))
    check_java()
