"""deploy/examples/pipeline.yaml: what the Spark operator takes, and a job that kproxy takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import kproxy
from kproxy.cli.pipeline import pipeline
from kproxy.pipeline.ingest import inputs
from tests.deploy.support import chart
from tests.deploy.support.apiserver import ApiServer, Refused
from tests.support import tools
from tests.support.wait import until

EXAMPLE = tools.ROOT / "deploy" / "examples" / "pipeline.yaml"
DEFINITION = Path(__file__).parent / "sparkapplication-crd.yaml"


def _application() -> dict[str, Any]:
    application: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())
    return application


def test_the_server_takes_it(kubernetes: ApiServer) -> None:
    """By the rules of the operator, and of those only: a field that does not exist is refused."""
    kubernetes.create(yaml.safe_load(DEFINITION.read_text()))

    application = _application()

    def is_known() -> bool:
        try:
            return not kubernetes.listed(application["apiVersion"], application["kind"], chart.NAMESPACE)
        except Refused:
            return False

    until(is_known, "the kind is known")
    kubernetes.dry_run(application, chart.NAMESPACE)
    wrong = _application()
    wrong["spec"]["driver"]["core"] = wrong["spec"]["driver"].pop("cores")
    with pytest.raises(Refused, match=r"unknown field \"spec\.driver\.core\""):
        kubernetes.dry_run(wrong, chart.NAMESPACE)


def test_kproxy_takes_its_arguments() -> None:
    """The program is kproxy's own file, and the arguments are a job over a topic."""
    spec = _application()["spec"]
    assert spec["mainApplicationFile"].endswith(f"/{Path(kproxy.__file__).parent.name}/__main__.py")
    assert spec["arguments"][0] == "pipeline"
    _, command, arguments = pipeline.resolve_command(pipeline.make_context("pipeline", []), spec["arguments"][1:])
    assert command is not None
    given = command.make_context("run", arguments).params
    (only,) = given["inputs"]
    assert isinstance(inputs.parse(only), inputs.TopicInput)
    assert given["output"].startswith("s3a://")
