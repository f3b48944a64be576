"""Resolve jars with Ivy, which comes inside pyspark, where the machine has no Maven."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kproxy.local_kafka import java
from kproxy.local_kafka.artifacts import Artifact, run_resolver
from kproxy.local_kafka.processes import ToolError

_CARRIER = "pyspark==4.0.*"
_RUNTIME = "default->runtime(*),master(*)"


def resolve(artifacts: Sequence[Artifact], directory: Path, cache: Path) -> None:
    """Put the artifacts and what they need at run time into `directory/lib`.

    Raises:
        ToolError: no Java, no pip to get Ivy with, or Ivy failed.
    """
    (directory / "ivy.xml").write_text(_module(artifacts))
    arguments = ["-cache", str(cache / "ivy"), "-ivy", "ivy.xml", "-types", "jar", "bundle"]
    pattern = ["-retrieve", "lib/[artifact]-[revision](-[classifier]).[ext]"]
    run_resolver([java.find_java(), *java.trust_store(), "-jar", str(_jar(cache)), *arguments, *pattern], directory)


def _jar(cache: Path) -> Path:
    """Ivy's own jar: of the pyspark that is installed, or out of the one that pip downloads."""
    spark = importlib.util.find_spec("pyspark")
    installed = sorted(Path(spark.origin).parent.glob("jars/ivy-*.jar")) if spark and spark.origin else []
    kept = sorted((cache / "ivy-jar").glob("ivy-*.jar"))
    return (installed + kept or [_download(cache)])[0]


def _download(cache: Path) -> Path:
    (cache / "ivy-jar").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", scratch, _CARRIER]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
        if done.returncode:
            raise ToolError(f"pip download {_CARRIER}, which has Ivy inside: {done.stderr.strip()[-300:]}")
        return _extract(next(Path(scratch).iterdir()), Path(scratch) / "ivy.jar", cache / "ivy-jar")


def _extract(package: Path, scratch: Path, directory: Path) -> Path:
    with tarfile.open(package) as archive:
        for member in archive:
            name = Path(member.name).name
            content = archive.extractfile(member) if name.startswith("ivy-") and name.endswith(".jar") else None
            if content is not None:
                scratch.write_bytes(content.read())
                return scratch.rename(directory / name)
    raise ToolError(f"{package.name}: no Ivy inside")


def _module(artifacts: Sequence[Artifact]) -> str:
    dependencies = "".join(_dependency(artifact) for artifact in artifacts)
    return (
        '<ivy-module version="2.0"><info organisation="kproxy" module="tools"/><configurations><conf name="default"/>'
        f"</configurations><dependencies>{dependencies}</dependencies></ivy-module>"
    )


def _dependency(artifact: Artifact) -> str:
    exclusions = "".join(f'<exclude org="{artifact.group}" module="{name}"/>' for name in artifact.without)
    names = f'org="{artifact.group}" name="{artifact.name}" rev="{artifact.version}"'
    return f'<dependency {names} conf="{_RUNTIME}">{exclusions}</dependency>'
