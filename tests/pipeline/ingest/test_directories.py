"""kproxy.pipeline.ingest.directories: an output goes on with the directories that it was made of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.ingest import directories
from kproxy.pipeline.ingest.inputs import FilesInput
from kproxy.pipeline.ingest.job import Job
from tests.pipeline.written import file, push

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_directories_that_change_places(spark: SparkSession, tmp_path: Path) -> None:
    """Spark would read all of their files again; the job ends before it begins, and says which one was there."""
    a, b = (FilesInput(str(tmp_path / name)) for name in ("a", "it's b"))
    for number, each in enumerate((a, b)):
        file(Path(each.directory), [push(number, 1)])
    output = Output(spark, str(tmp_path / "tables"))
    for _ in range(2):
        assert Job(output, [a, b]).start(None).awaitTermination(120)
    with pytest.raises(PipelineError, match=r"/a was read in its place before"):
        Job(output, [b, a]).start(None)
    assert output.read(tables.PUSHES).count() == 2
    directories.check(output, [a, b])
