"""Where Spark's session gets the jars that it needs beyond its own: from a directory, or from Maven Central."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from kproxy.pipeline.errors import PipelineError

DIRECTORY: Final = "KPROXY_SPARK_JARS"
"""The environment variable that names a directory of jars; `--jars` sets it."""
MENDED: Final = f"name a directory of its jars: --jars DIRECTORY, or {DIRECTORY}; docs/pipeline.md, Without a network"


def settings(coordinates: Sequence[str]) -> Mapping[str, str]:
    """Return Spark's settings for jars with these coordinates, as "io.delta:delta-spark_2.13:4.0.1".

    All jars of the directory are taken, since those named need others. Raises `PipelineError` when one is missing.
    """
    directory = os.environ.get(DIRECTORY)
    if not directory:
        return {"spark.jars.packages": ",".join(coordinates)}
    found = sorted(Path(directory).resolve().glob("*.jar"))
    for coordinate in coordinates:
        _, artifact, version = coordinate.split(":")
        # Spark's own cache puts the group before the name.
        if not any(jar.name.startswith(f"{artifact}-") or f"_{artifact}-" in jar.name for jar in found):
            raise PipelineError(
                f"jars {directory}: there is no {artifact}-{version}.jar; docs/pipeline.md, Without a network, says "
                "which jars must be there"
            )
    return {"spark.jars": ",".join(map(str, found))}
