"""`kproxy pipeline`: what kproxy wrote, as tables of Delta Lake."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

import click

from kproxy.cli.output import fail, help_if_bare

_LIBRARIES: Final = ("pyspark", "delta", "pyarrow", "numpy")


@click.group(invoke_without_command=True)
@click.pass_context
def pipeline(context: click.Context) -> None:
    """Tables of what kproxy wrote, made with Spark: client telemetry and events."""
    help_if_bare(context)


@pipeline.command()
@click.option(
    "--input",
    "inputs",
    multiple=True,
    required=True,
    help="files:DIRECTORY or kafka:HOST:PORT/TOPIC; several may be given.",
)
@click.option("--output", required=True, help="Directory, or URI as s3a://bucket/kproxy, of the tables.")
@click.option(
    "--trigger",
    default="available-now",
    show_default=True,
    help="available-now reads what is there and ends; 30s reads every 30 seconds.",
)
@click.option("--master", help="Spark's master; without it all cores of this machine, or what spark-submit says.")
def run(inputs: tuple[str, ...], output: str, trigger: str, master: str | None) -> int:
    """Read what kproxy wrote and append it to the tables, each record once."""
    if missing := [library for library in _LIBRARIES if find_spec(library) is None]:
        return fail(f"pipeline: {' and '.join(missing)} missing: pip install 'kproxy[pipeline]'")
    from kproxy.pipeline.errors import PipelineError
    from kproxy.pipeline.run import run as run_job

    try:
        run_job(inputs, output, trigger, master, click.echo)
    except PipelineError as error:
        return fail(f"pipeline: {error}")
    return 0
