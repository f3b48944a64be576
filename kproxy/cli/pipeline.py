"""`kproxy pipeline`: what kproxy wrote, as tables of Delta Lake."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

import click

from kproxy.cli.output import fail, help_if_bare, print_table
from kproxy.pipeline import jars

if TYPE_CHECKING:
    from kproxy.pipeline.findings.finding import Finding

_LIBRARIES: Final = ("pyspark", "delta", "pyarrow", "numpy", "jinja2")


_MASTER: Final = click.option(
    "--master", help="Spark's master; without it all cores of this machine, or what spark-submit says."
)
_TABLES: Final = click.option(
    "--tables", required=True, help="Directory, or URI, of the tables: the --output of `kproxy pipeline run`."
)
_SINCE: Final = click.option(
    "--since", default="24h", show_default=True, help="How far to look back, as 90m, 24h or 7d."
)
_UNTIL: Final = click.option(
    "--until", help="The end of the time to look at, as 2026-01-31T12:00:00Z; without it, now."
)
_KEEP: Final = click.option(
    "--keep",
    "kept",
    multiple=True,
    metavar="TABLE=DAYS",
    help="As points=14d: how long rows stay. Without it points and pushes 30d, rollup_1h and what is rare 400d, "
    "all others 90d.",
)


def _use_jars(_: click.Context, __: click.Parameter, directory: str | None) -> None:
    if directory is not None:
        os.environ[jars.DIRECTORY] = directory


_JARS: Final = click.option(
    "--jars",
    metavar="DIRECTORY",
    callback=_use_jars,
    expose_value=False,
    help=f"Where the jars of Delta, and of the connector for Kafka, are; {jars.DIRECTORY} says the same. Without it "
    "Spark fetches them from Maven Central.",
)


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
@click.option(
    "--accept-loss",
    is_flag=True,
    help="Go on when records of a topic are gone before they were read; the table quarantine says how many.",
)
@_KEEP
@_MASTER
@_JARS
def run(
    inputs: tuple[str, ...], output: str, trigger: str, accept_loss: bool, kept: tuple[str, ...], master: str | None
) -> int:
    """Read what kproxy wrote and write it to the tables, each record once.

    With a time as trigger, the job also maintains its tables, once a day.
    """
    return _with_spark(lambda job: job.run(inputs, output, trigger, master, click.echo, kept, accept_loss=accept_loss))


@pipeline.command()
@click.option("--tables", required=True, help="Directory, or URI, of the tables.")
@_KEEP
@_MASTER
@_JARS
def maintain(tables: str, kept: tuple[str, ...], master: str | None) -> int:
    """Delete what is too old, make large files of small ones, delete files that nobody needs."""
    return _with_spark(lambda job: job.maintain(tables, master, click.echo, kept))


def _with_spark(command: Callable[[ModuleType], None]) -> int:
    """Call a command with `kproxy.pipeline.run`, which needs libraries that the proxy does not."""
    if missing := [library for library in _LIBRARIES if find_spec(library) is None]:
        return fail(f"pipeline: {' and '.join(missing)} missing: pip install 'kproxy[pipeline]'")
    from kproxy.pipeline import run as job
    from kproxy.pipeline.errors import PipelineError

    try:
        command(job)
    except PipelineError as error:
        return fail(f"pipeline: {error}")
    return 0


@pipeline.command()
@_TABLES
@_SINCE
@_UNTIL
@click.option("--rule", "only", multiple=True, help="Apply this rule only; several may be given.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
@_MASTER
@_JARS
def findings(tables: str, since: str, until: str | None, only: tuple[str, ...], form: str, master: str | None) -> int:
    """Say which clients, groups and brokers are unhealthy, why, and what to do."""
    return _with_spark(lambda _: _find(tables, since, until, only, form, master))


@pipeline.command()
@_TABLES
@_SINCE
@_UNTIL
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; without it report.html, and JSON goes to standard output.",
)
@click.option("--format", "form", type=click.Choice(["html", "json"]), default="html", show_default=True)
@_MASTER
@_JARS
def report(tables: str, since: str, until: str | None, out: Path | None, form: str, master: str | None) -> int:
    """Make a page of the tables: who is there, what is unhealthy, how quick and how busy clients are."""
    return _with_spark(lambda _: _report(tables, since, until, out, form, master))


@pipeline.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("kproxy-pipeline-demo"),
    show_default=True,
    help="Directory of the sample; a former one there is replaced.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Another number, another day.")
@click.option("--clients", type=click.IntRange(min=80), default=200, show_default=True, help="How many clients.")
@_MASTER
@_JARS
def demo(out: Path, seed: int, clients: int, master: str | None) -> int:
    """Make a day of a sample fleet, run it through the pipeline, and compare what is found with what was planted.

    The exit code is 1 when a planted trouble is missed, or something healthy is accused.
    """
    codes: list[int] = []
    failed = _with_spark(lambda _: codes.append(_play(out, seed, clients, master)))
    return failed or codes[0]


def _play(out: Path, seed: int, clients: int, master: str | None) -> int:
    from kproxy.demo.fleet.play import play

    return play(out, seed, clients, master)


@pipeline.command()
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def rules(form: str) -> int:
    """List the rules of `findings`: what each one finds, and from how much data on."""
    from kproxy.pipeline.errors import PipelineError
    from kproxy.pipeline.findings import installed
    from kproxy.pipeline.findings.reference import limits

    try:
        every = installed.rules()
    except PipelineError as error:
        return fail(f"pipeline: {error}")
    if form == "json":
        plain = [{name: getattr(rule, name) for name in _SHOWN} | {"limits": dict(rule.values)} for rule in every]
        click.echo(json.dumps(plain, indent=2, ensure_ascii=False))
    else:
        head = ("rule", "about a", "severity", "finds", "needs")
        print_table(head, ((one.name, one.kind, one.severity, one.help, limits(one.needs)) for one in every))
    return 0


_SHOWN: Final = ("name", "kind", "severity", "help", "reason", "advice", "query")


def _find(tables: str, since: str, until: str | None, only: Sequence[str], form: str, master: str | None) -> None:
    from kproxy.pipeline.findings.command import find

    result = find(tables, since, until, only, master)
    for broken in result.broken:
        click.echo(f"pipeline: {broken}; the other rules were applied", err=True)
    if form == "json":
        click.echo(json.dumps([finding.as_json() for finding in result.findings], indent=2, ensure_ascii=False))
    elif result.findings:
        _print_findings(result.findings)
    else:
        click.echo(result.nothing)


def _report(tables: str, since: str, until: str | None, out: Path | None, form: str, master: str | None) -> None:
    from kproxy.pipeline.errors import PipelineError
    from kproxy.pipeline.report.command import report as make

    file = Path("report.html") if out is None and form == "html" else out
    if file is not None and not (file.parent.is_dir() and os.access(file.parent, os.W_OK)):
        raise PipelineError(f"out {file}: {file.parent} is not a directory that can be written to")
    made = make(tables, since, until, master)
    text = made.page() if form == "html" else json.dumps(made.as_json(), indent=2, ensure_ascii=False) + "\n"
    if file is None:
        click.echo(text, nl=False)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PipelineError(f"out {file}: {error.strerror}") from error
    click.echo(f"{file}: {made.summary}")


def _print_findings(found: Sequence[Finding]) -> None:
    head = ("severity", "rule", "cluster", "about", "reason")
    print_table(head, ((one.severity, one.rule, one.cluster, one.subject, one.reason) for one in found))
    click.echo("\nwhat to do")
    for line in dict.fromkeys(f"{one.rule}: {one.advice}" for one in found):
        click.echo(line)
