"""What several tests of hosted groups begin with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.backend import Backend
from tests.support.disturbed_group import DisturbedGroup


@pytest.fixture
def world(newest_kafka: Backend, tmp_path: Path) -> Iterator[DisturbedGroup]:
    """A group of eight members that has settled."""
    with DisturbedGroup.settled(newest_kafka, tmp_path) as made:
        yield made
