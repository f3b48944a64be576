"""The commands: parse, call, print. Each imports what it needs itself, so that `kproxy --version` stays quick."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from kproxy import __version__
from kproxy.errors import ConfigError

if TYPE_CHECKING:
    from kproxy.config import Config

USAGE: Final = 2
INTERRUPTED: Final = 130
_LEVELS: Final = ("debug", "info", "warning", "error", "critical")
_FORMATS: Final = ("json", "console", "auto")
_DEMO_LIBRARIES: Final = ("confluent_kafka", "matplotlib")
_PIPED_WIDTH: Final = 160


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code; a user's mistake is one line on standard error and exit code 2."""
    try:
        return kproxy.main(arguments, prog_name="kproxy", standalone_mode=False) or 0
    except click.UsageError as error:
        where = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        return _fail(" ".join(error.format_message().split()) + where)
    except ConfigError as error:
        return _fail(str(error))
    except click.Abort:
        return INTERRUPTED


def _fail(message: str) -> int:
    click.echo(message, err=True)
    return USAGE


def _help_if_bare(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(USAGE)


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from kproxy.compiled import is_compiled

        click.echo(f"kproxy {__version__}{' (compiled)' if is_compiled() else ''}")
        context.exit()


def _settings(command: Callable[..., int]) -> Callable[..., int]:
    """The flags that stand for settings. `load` reads their variables, not click, so that a problem names them."""
    options = (
        click.option("--config", type=Path, help="YAML file. [KPROXY_CONFIG]"),
        click.option("--bootstrap-servers", help="Brokers, host:port with commas. [KPROXY_BOOTSTRAP_SERVERS]"),
        click.option("--listen", help="host:port where clients bootstrap; nodes follow on. [KPROXY_LISTEN]"),
        click.option("--advertised-host", help="Host that clients are told for nodes. [KPROXY_ADVERTISED_HOST]"),
        click.option("--admin", help="host:port of metrics, probes and the API. [KPROXY_ADMIN]"),
        click.option("--log-level", type=click.Choice(_LEVELS), help="[KPROXY_LOG_LEVEL]"),
        click.option("--log-format", type=click.Choice(_FORMATS), help="[KPROXY_LOG_FORMAT]"),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _load(config: Path | None, log_level: str | None, log_format: str | None, **settings: Any) -> Config:
    from kproxy.config import load

    return load(config, settings | {"log.level": log_level, "log.format": log_format})


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version and exit."
)
@click.pass_context
def kproxy(context: click.Context) -> None:
    """A Kafka proxy: every client through one address, none to a broker's own."""
    _help_if_bare(context)


@kproxy.command()
@_settings
def serve(**flags: Any) -> int:
    """Relay clients to a Kafka cluster until SIGTERM.

    Settings come from flags, then KPROXY_* variables, then the file, then defaults. Without a file
    --bootstrap-servers and --listen suffice: clients bootstrap at that port and reach the nodes at the following ones.
    """
    settings = _load(**flags)
    with _absent("rich"):
        from kproxy.app import run

    return run(settings)


@contextmanager
def _absent(library: str) -> Iterator[None]:
    """Has imports of a library fail meanwhile.

    structlog imports rich at once, for tracebacks in a form that kproxy does not print: 60 ms and 4 MB of every start.
    """
    known = sys.modules.get(library)
    sys.modules[library] = None  # type: ignore[assignment]  # the import system's own way to say so
    try:
        yield
    finally:
        del sys.modules[library]
        if known is not None:
            sys.modules[library] = known


@kproxy.command()
@click.option("--kafka", is_flag=True, help="A real Apache Kafka instead of an embedded mock of one; needs Java.")
@click.option("--stay", is_flag=True, help="Stay up afterwards and print what to try.")
@click.option("--seconds", type=click.IntRange(min=1), help="How long the workload runs.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Directory for the plot.")
def demo(**options: Any) -> int:
    """Start a Kafka, kproxy in front of it, a producer and a consumer group; show, sum up and plot what happens."""
    from importlib.util import find_spec

    if missing := [library for library in _DEMO_LIBRARIES if find_spec(library) is None]:
        return _fail(f"demo: {' and '.join(missing)} missing: pip install 'kproxy[demo]'")
    from kproxy.demo import run

    code: int = run(**{name: value for name, value in options.items() if value is not None})
    return code


@kproxy.group(invoke_without_command=True)
@click.pass_context
def config(context: click.Context) -> None:
    """Look at configurations."""
    _help_if_bare(context)


@config.command()
@click.argument("file", type=Path)
def check(file: Path) -> int:
    """Check FILE, with the KPROXY_* variables that are set, and show what would listen where."""
    settings = _load(file, None, None)
    from rich.console import Console
    from rich.table import Table

    from kproxy.config.plan import plan

    table = Table("Virtual cluster", "For", "Listens on", "Clients are told", "Backend", box=None, pad_edge=False)
    for line in plan(settings):
        table.add_row(line.cluster, line.purpose, line.listens, line.advertised, line.backend)
    Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH, markup=False, emoji=False).print(table)
    return 0


@config.command()
def schema() -> int:
    """Print the JSON Schema of the configuration file, for editors."""
    from kproxy.config.reference import json_schema

    click.echo(json_schema(), nl=False)
    return 0


@config.command()
@_settings
def show(**flags: Any) -> int:
    """Print the configuration in effect, defaults included, as YAML."""
    settings = _load(**flags)
    import yaml

    click.echo(yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False), nl=False)
    return 0
