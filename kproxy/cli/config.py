"""`kproxy config …`: check and print configurations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from kproxy.cli.output import REFUSED, help_if_bare, print_table
from kproxy.cli.serve import config_options, load_settings
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
@click.option("--connect", is_flag=True, help="Ask every upstream for its nodes, too: has each of them a port?")
def check(file: Path, connect: bool) -> int:
    """Check FILE, with the KPROXY_* variables that are set, and show what would listen where."""
    found = load_settings(file)
    _check_telemetry(found, file)
    _check_certificates(found, file)
    from kproxy.config.plan import notes, plan

    head = ("Virtual cluster", "For", "Listens on", "Clients are told", "Backend")
    print_table(
        head, ((line.cluster, line.purpose, line.listens, line.advertised, line.backend) for line in plan(found))
    )
    for note in notes(found):
        click.echo(f"Note: {note}")
    return _check_upstreams(found) if connect else 0


def _check_upstreams(found: Config) -> int:
    """Print a line for each upstream; exit code 1 when one does not answer, or has a node without a port."""
    import trio

    from kproxy.cluster.preflight import findings

    asked = trio.run(findings, found)
    click.echo()
    head = ("Virtual cluster", "Upstream", "Nodes", "Found")
    rows = (
        (one.cluster, one.upstream, " ".join(map(str, one.nodes)), "; ".join(one.problems) or "a port for each")
        for one in asked
    )
    print_table(head, rows)
    return REFUSED if any(one.problems for one in asked) else 0


def _check_telemetry(found: Config, file: Path) -> None:
    """Check regexes, URLs and plug-ins, which the models cannot; raises `ConfigError` where `serve` would."""
    served = [index for index, cluster in enumerate(found.clusters) if cluster.telemetry is not None]
    if not served:
        return
    from kproxy.telemetry.client_telemetry import ClientTelemetry

    for index in served:
        try:
            ClientTelemetry(found.clusters[index].name, index, found, _dials_nobody)
        except ConfigError as error:
            raise ConfigError(f"{file}: {error.key}", error.reason) from error


def _check_certificates(found: Config, file: Path) -> None:
    """Read the files of TLS; raises `ConfigError` where `serve` would."""
    of_clusters = any(cluster.tls or any(one.tls for one in cluster.backends) for cluster in found.clusters)
    if not of_clusters and not any(topic.tls for _, topic in found.topics_elsewhere):
        return
    from kproxy.cluster.security import read_security
    from kproxy.cluster.topic_clients import check_topics

    try:
        check_topics(found)
        for cluster in found.clusters:
            read_security(cluster)
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
@config_options
def show(**flags: Any) -> int:
    """Print the configuration in effect, defaults included, as YAML."""
    found = load_settings(**flags)
    import yaml

    click.echo(yaml.safe_dump(found.model_dump(mode="json"), sort_keys=False), nl=False)
    return 0
