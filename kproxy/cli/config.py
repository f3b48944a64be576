"""`kproxy config …`: look at configurations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from kproxy.cli.codes import help_if_bare
from kproxy.cli.settings import load_settings, settings
from kproxy.cli.table import print_table
from kproxy.errors import ConfigError

if TYPE_CHECKING:
    from kproxy.config import Config
    from kproxy.config.delivery import ToTopic


@click.group(invoke_without_command=True)
@click.pass_context
def config(context: click.Context) -> None:
    """Look at configurations."""
    help_if_bare(context)


@config.command()
@click.argument("file", type=Path)
def check(file: Path) -> int:
    """Check FILE, with the KPROXY_* variables that are set, and show what would listen where."""
    found = load_settings(file)
    _check_telemetry(found, file)
    from kproxy.config.notes import notes
    from kproxy.config.plan import plan

    head = ("Virtual cluster", "For", "Listens on", "Clients are told", "Backend")
    print_table(
        head, ((line.cluster, line.purpose, line.listens, line.advertised, line.backend) for line in plan(found))
    )
    for note in notes(found):
        click.echo(f"Note: {note}")
    return 0


def _check_telemetry(found: Config, file: Path) -> None:
    """Raises ConfigError for what `serve` would refuse, too, and the models cannot judge: regexes, URLs, plug-ins."""
    served = [index for index, cluster in enumerate(found.clusters) if cluster.telemetry is not None]
    if not served:
        return
    from kproxy.app.telemetry import ClientTelemetry

    for index in served:
        try:
            ClientTelemetry(found.clusters[index].name, index, found, _dials_nobody)
        except ConfigError as error:
            raise ConfigError(f"{file}: {error.key}", error.reason) from error


def _dials_nobody(to: ToTopic) -> NoReturn:
    raise AssertionError(f"a receiver that writes to {to.topic} is checked, not run")


@config.command()
def schema() -> int:
    """Print the JSON Schema of the configuration file, for editors."""
    from kproxy.config.reference import json_schema

    click.echo(json_schema(), nl=False)
    return 0


@config.command()
@settings
def show(**flags: Any) -> int:
    """Print the configuration in effect, defaults included, as YAML."""
    found = load_settings(**flags)
    import yaml

    click.echo(yaml.safe_dump(found.model_dump(mode="json"), sort_keys=False), nl=False)
    return 0
