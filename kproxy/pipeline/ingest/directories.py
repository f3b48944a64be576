"""Which directories an output was made of, in their order: Spark remembers what it read by an input's place.

A job with other directories, or with the same in another order, would read all of their files again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kproxy.pipeline import tables
from kproxy.pipeline.delta import Output
from kproxy.pipeline.errors import PipelineError
from kproxy.pipeline.ingest.inputs import FilesInput

_PROPERTY: Final = "kproxy.pipeline.files.{}"
"""Of the table `pushes`."""


def check(output: Output, directories: Sequence[FilesInput]) -> None:
    """Note the directories that are read for the first time; raise `PipelineError` when others were read before."""
    known = output.properties(tables.PUSHES)
    new: dict[str, str] = {}
    for number, each in enumerate(directories):
        name = _PROPERTY.format(number)
        if known.get(name, each.directory) != each.directory:
            raise PipelineError(
                f"input files:{each.directory}: {known[name]} was read in its place before, and Spark would read all "
                "of its files again: name the same directories in the same order, or use another output"
            )
        if name not in known:
            new[name] = each.directory
    if new:
        output.set_properties(tables.PUSHES, new)
