"""The command of a JVM: with the class data archive of its class path where there is one that can be used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kproxy.local_kafka import class_archive, java
from kproxy.local_kafka.broker import Broker
from kproxy.local_kafka.processes import ToolError


@pytest.fixture
def classpath(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A directory of jars, for a Java that says its version."""
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
    program.chmod(0o755)
    monkeypatch.setattr(java, "find_java", lambda: str(program))
    (tmp_path / "jars").mkdir()
    return f"{tmp_path}/jars/first.jar:{tmp_path}/jars/*"


def _archive(classpath: str) -> Path:
    archive = java.class_archive(classpath)
    assert archive is not None
    return archive


def _shared(classpath: str) -> list[str]:
    return [word for word in java.command(classpath, "Main") if word.startswith("-XX:SharedArchiveFile=")]


def test_no_archive(classpath: str) -> None:
    """Without an archive the command has no option for one."""
    assert _shared(classpath) == []
    assert "-XX:" not in "".join(java.command(classpath, "Main", options=()))


def test_an_archive(classpath: str) -> None:
    """A class path that is, or begins with, the archive's takes it; another does not."""
    archive = _archive(classpath)
    archive.write_bytes(b"classes")
    option = [f"-XX:SharedArchiveFile={archive}"]
    assert _shared(classpath) == _shared(f"{classpath}:/own/classes") == option
    assert _shared(f"/own/classes:{classpath}") == []


def test_an_empty_archive(classpath: str) -> None:
    """An empty file says that this Java makes none: the command does without."""
    _archive(classpath).touch()
    assert _shared(classpath) == []


def test_a_class_path_without_a_directory_of_jars(classpath: str) -> None:
    """Classes in a directory, or a single jar, have no archive."""
    assert java.class_archive("/own/classes") is None
    assert java.class_archive(f"{classpath}:/own/a.jar") is None


def test_another_build_of_java(classpath: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another build of Java has an archive of its own."""
    archive = _archive(classpath)
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho 'openjdk version \"17.0.2\"' >&2\n")
    other.chmod(0o755)
    monkeypatch.setattr(java, "find_java", lambda: str(other))
    assert _archive(classpath) != archive


def test_it_is_not_made_twice(classpath: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that starts no more leaves an empty file, and the next one does not try again."""
    starts: list[str] = []

    def fails(self: Broker, *arguments: object) -> None:
        starts.append("")
        raise ToolError("it does not start")

    monkeypatch.setattr(Broker, "start", fails)
    said: list[str] = []
    for _ in range(2):
        class_archive.ensure(classpath, 128, say=said.append)
    assert _archive(classpath).stat().st_size == 0
    assert len(starts) == len(said) == 1
    assert [path.name for path in _archive(classpath).parent.glob(".classes-*")] == []


def test_jars_that_are_not_ours(classpath: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory of jars that cannot be written stays as it is, and nothing fails."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    class_archive.ensure(classpath, 128, say=print)
    assert list(_archive(classpath).parent.iterdir()) == []
