"""kproxy.pipeline.ingest.inputs: what a user may name as an input."""

from __future__ import annotations

from pathlib import Path

import pytest

from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.ingest.inputs import FilesInput, TopicInput, parse


def test_inputs(tmp_path: Path) -> None:
    """A directory, a URI, a topic behind one broker or several."""
    assert parse(f"files:{tmp_path}") == FilesInput(str(tmp_path.resolve()))
    assert parse("files:s3a://bucket/kproxy") == FilesInput("s3a://bucket/kproxy")
    assert parse("kafka:a:9092/t") == TopicInput("a:9092", "t")
    assert parse("kafka:a:9092,[::1]:9093/t.x") == TopicInput("a:9092,[::1]:9093", "t.x")


@pytest.mark.parametrize(
    "text",
    ["", "files:", "kafka:", "kafka:a/t", "kafka:a:0/t", "kafka:a:65536/t", "kafka:a:9092", "kafka:a:9092/", "s3:x"],
)
def test_what_is_no_input(text: str) -> None:
    """The error repeats it, and says what is expected."""
    with pytest.raises(PipelineError, match="expected files:DIRECTORY or kafka:HOST:PORT"):
        parse(text)


def test_a_missing_directory(tmp_path: Path) -> None:
    """It is said before Spark starts."""
    with pytest.raises(PipelineError, match="there is no such directory"):
        parse(f"files:{tmp_path}/none")
