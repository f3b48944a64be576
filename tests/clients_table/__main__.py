"""Run releases of clients at Kafka 2.8, 3.9 and 4.3, and write the table of docs/clients.md: `make clients-table`.

`--only CLIENT` (a beginning of its name), `--brokers RELEASE` and `--login MECHANISM` (or `none`), each of which may be
repeated, run a part, and leave all other cells as they are. The exit code is 1 where a client works directly and not
through kproxy.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from kproxy.local_kafka import jars
from kproxy.local_kafka.cluster import Cluster
from tests.clients_table.record import KEPT, Record, Runs, differing, dumped, loaded
from tests.clients_table.runs import Place
from tests.clients_table.secured_cluster import logging_in, mechanisms
from tests.clients_table.table import PAGE, cell, with_table
from tests.support.client_releases import ALL, PLAIN, SCRAM, ClientRelease

NODES: Final = (7, 1001)
BROKERS: Final[Mapping[jars.Release, Mapping[str, Any]]] = {
    # One node: its mode without ZooKeeper is an early one.
    jars.KAFKA_2_8: {"node_ids": NODES[:1], "settings": {"advertised.listeners": None}},
    jars.KAFKA_3_9: {"node_ids": NODES},
    jars.KAFKA_4_3: {"node_ids": NODES},
}


NO_LOGIN: Final = "none"
MECHANISMS: Final = (PLAIN, SCRAM)


@click.command()
@click.option("--only", "names", multiple=True, help="The beginning of a client's name, as java-2.")
@click.option("--brokers", "releases", multiple=True, help="The beginning of the brokers' release, as 3.9.")
@click.option(
    "--login", "logins", multiple=True, type=click.Choice([NO_LOGIN, *MECHANISMS]), help="How clients log in."
)
def main(names: Sequence[str], releases: Sequence[str], logins: Sequence[str]) -> None:
    """Run them, and write the page and its JSON."""
    clients = [one for one in ALL if not names or str(one).startswith(tuple(names))]
    for brokers in BROKERS:
        if not releases or brokers.version.startswith(tuple(releases)):
            _at(brokers, clients, logins or (NO_LOGIN, *MECHANISMS))
    differences = [(place, *one) for place, runs in _kept().items() for one in differing(runs)]
    for one in differences:
        click.echo(f"works directly only: {one}", err=True)
    sys.exit(bool(differences))


def _at(brokers: jars.Release, clients: Sequence[ClientRelease], logins: Sequence[str]) -> None:
    """Run clients at these brokers: those that do not log in, and those that do."""
    if NO_LOGIN in logins:
        with _directory() as directory, Cluster(brokers, **BROKERS[brokers]) as cluster:
            _run(brokers.version, Place(cluster, directory), clients)
    asked = [one for one in logins if one in mechanisms(brokers)]
    if asked:
        with logging_in(brokers, **BROKERS[brokers]) as known:
            for mechanism in asked:
                with _directory() as directory:
                    place = Place(known.cluster, directory, known.bootstrap, known.login(mechanism))
                    able = [one for one in clients if mechanism in one.mechanisms]
                    _run(f"{brokers.version} {mechanism}", place, able)


@contextmanager
def _directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="kproxy-clients-") as directory:
        yield Path(directory)


def _run(name: str, place: Place, clients: Sequence[ClientRelease]) -> None:
    """Run clients at a place, and keep what is found of each at once."""
    for client, ways in place.ran(clients):
        click.echo(f"Kafka {name}: {client}: {cell(ways)}")
        record = dict(_kept())
        record[name] = record.get(name, Runs()).with_client(str(client), ways, _today())
        _keep(record)


def _kept() -> Record:
    return loaded(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def _keep(record: Record) -> None:
    """Write the page and its JSON, in the order of `BROKERS` and of the clients."""
    places = [f"{one.version}{login}" for login in ("", *(f" {one}" for one in MECHANISMS)) for one in BROKERS]
    ordered = {place: _ordered(record[place]) for place in places if place in record}
    KEPT.write_text(dumped(ordered), encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), ordered), encoding="utf-8")


def _ordered(runs: Runs) -> Runs:
    """Return them in the order of the clients. What is run no more is left out."""
    return Runs(runs.day, {str(one): runs.clients[str(one)] for one in ALL if str(one) in runs.clients})


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


if __name__ == "__main__":
    main()
