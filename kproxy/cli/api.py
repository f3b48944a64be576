"""What commands for a kproxy that runs have in common: their flags, pages of the API, JSON as it came."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Final

import click

from kproxy import __version__
from kproxy.cli.asking import VARIABLE, AdminPort
from kproxy.cli.codes import USAGE, CommandError

_DEFAULT: Final = "http://127.0.0.1:9190"
_PAGE: Final = "1000"


def remote(command: Callable[..., int]) -> Callable[..., int]:
    """The flags of all of them; the command gets `admin`, the URL, and `as_json`."""

    @wraps(command)
    def understood(admin: str, **options: Any) -> int:
        try:
            return command(admin=admin, **options)
        except (KeyError, TypeError) as error:
            line = f"{admin}: kproxy {__version__} does not understand the answer ({error!r}): another version?"
            raise CommandError(line, USAGE) from error

    options = (
        click.option("--admin", default=_DEFAULT, envvar=VARIABLE, help=f"URL of the admin port. [{VARIABLE}]"),
        click.option("--json", "as_json", is_flag=True, help="Print what the API answers."),
    )
    for option in reversed(options):
        understood = option(understood)
    return understood


def of_cluster(name: str, *below: str) -> str:
    """The path of what is below a virtual cluster."""
    from urllib.parse import quote

    return "/".join(["/api/v1/clusters", *(quote(part, safe="") for part in (name, *below))])


def pages(port: AdminPort, path: str, key: str, **query: str | None) -> Iterator[dict[str, Any]]:
    """What all pages hold under `key`; asked for when it is needed."""
    after = None
    while True:
        page = port.get(path, **query, limit=_PAGE, after=after)
        yield from page[key]
        after = page["next"]
        if after is None:
            return


def print_json(said: Any) -> int:
    """On one line, for scripts; exit code 0."""
    click.echo(json.dumps(said))
    return 0


def software(client: dict[str, Any]) -> str:
    """Name and version, as far as they are known."""
    return " ".join(filter(None, (client["software_name"], client["software_version"])))
