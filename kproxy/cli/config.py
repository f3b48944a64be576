"""`kproxy config …`: look at configurations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kproxy.cli.codes import help_if_bare
from kproxy.cli.settings import load_settings, settings
from kproxy.cli.table import print_table
from kproxy.errors import ConfigError

if TYPE_CHECKING:
    from kproxy.config import Config


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
    _check_subscriptions(found, file)
    from kproxy.config.notes import notes
    from kproxy.config.plan import plan

    head = ("Virtual cluster", "For", "Listens on", "Clients are told", "Backend")
    print_table(
        head, ((line.cluster, line.purpose, line.listens, line.advertised, line.backend) for line in plan(found))
    )
    for note in notes(found):
        click.echo(f"Note: {note}")
    return 0


def _check_subscriptions(found: Config, file: Path) -> None:
    """Raises ConfigError for one that Kafka would refuse: the models lie below telemetry and do not know its rules."""
    given = [
        (f"{file}: clusters.{index}.telemetry.subscriptions.{place}", subscription)
        for index, cluster in enumerate(found.clusters)
        for place, subscription in enumerate(cluster.telemetry.subscriptions if cluster.telemetry else ())
    ]
    if not given:
        return
    from kproxy.telemetry.errors import SubscriptionError
    from kproxy.telemetry.subscription import Subscription

    for key, subscription in given:
        try:
            Subscription(subscription.name, subscription.metrics, match=tuple(subscription.match.items()))
        except SubscriptionError as error:
            raise ConfigError(key, error.message) from error


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
