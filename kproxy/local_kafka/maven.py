"""Resolve jars with the machine's Maven."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from kproxy.local_kafka.artifacts import Artifact, run_resolver
from kproxy.local_kafka.processes import ToolError

_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


def resolve(artifacts: Sequence[Artifact], directory: Path, cache: Path) -> None:
    """Put the artifacts and what they need at run time into `directory/lib`; Maven keeps its own cache.

    Raises:
        ToolError: there is no Maven, or it failed.
    """
    maven = shutil.which("mvn")
    if maven is None:
        raise ToolError("mvn: not on PATH")
    (directory / "pom.xml").write_text(_pom(artifacts))
    run_resolver([maven, "-B", "-q", _PLUGIN, "-DoutputDirectory=lib", "-DincludeScope=runtime"], directory)


def _pom(artifacts: Sequence[Artifact]) -> str:
    dependencies = "".join(_dependency(artifact) for artifact in artifacts)
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>kproxy</groupId><artifactId>tools</artifactId>"
        f"<version>1</version><packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>"
    )


def _dependency(artifact: Artifact) -> str:
    exclusions = "".join(
        f"<exclusion><groupId>{artifact.group}</groupId><artifactId>{name}</artifactId></exclusion>"
        for name in artifact.without
    )
    return (
        f"<dependency><groupId>{artifact.group}</groupId><artifactId>{artifact.name}</artifactId>"
        f"<version>{artifact.version}</version><exclusions>{exclusions}</exclusions></dependency>"
    )
