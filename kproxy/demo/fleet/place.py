"""The directory of a sample: what a former sample left there is replaced, and nothing else."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kproxy.pipeline.errors import PipelineError

_MARKER: Final = ".kproxy-pipeline-demo"
_TEXT: Final = (
    "`kproxy pipeline demo` wrote this directory, and replaces its input, tables and report when it runs again.\n"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sample's files are."""

    root: Path

    @property
    def input(self) -> Path:
        """What kproxy wrote."""
        return self.root / "input"

    @property
    def tables(self) -> Path:
        """What the job made of it."""
        return self.root / "tables"

    @property
    def report(self) -> Path:
        """The page."""
        return self.root / "report.html"

    def clear(self) -> None:
        """Make the directory, without a former sample; raise `PipelineError` when it holds anything else."""
        try:
            self._clear()
        except OSError as error:
            raise PipelineError(f"out {self.root}: {error.strerror or error}; name another directory") from error

    def _clear(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        marker = self.root / _MARKER
        if any(self.root.iterdir()) and not marker.is_file():
            raise PipelineError(
                f"out {self.root}: it is not empty, and `kproxy pipeline demo` did not write it; name another directory"
            )
        marker.write_text(_TEXT, encoding="utf-8")
        for directory in (self.input, self.tables):
            if directory.exists():
                shutil.rmtree(directory)
        self.report.unlink(missing_ok=True)
