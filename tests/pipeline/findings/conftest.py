"""One set of tables for all tests: each table takes seconds to make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kproxy.pipeline.delta import Output
from tests.pipeline.findings.fleet import Fleet
from tests.pipeline.findings.troubles import PLANTED, healthy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def output(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Output:
    """A healthy fleet and all troubles; each has clusters of its own, since rules compare within a cluster."""
    fleet = Fleet()
    healthy(fleet, "healthy")
    for name, trouble in PLANTED.items():
        trouble.plant(fleet, name, True)
        trouble.plant(fleet, f"thin {name}", False)
    return fleet.write(spark, str(tmp_path_factory.mktemp("tables")))
