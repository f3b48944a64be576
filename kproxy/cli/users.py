"""`kproxy users`: adds, removes and lists the users of `clusters[].authentication`. It changes the file alone.

A running kproxy notices the change by itself (`reload.interval`). Passwords come from a prompt without echo or from
standard input, never from the command line, where every process of the machine could read them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from kproxy.cli.output import CliError
from kproxy.errors import bare_reason

_FILE: Final = click.option(
    "--file",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file that clusters[].authentication.users_file names.",
)
_MECHANISMS: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_LARGEST: Final = 1024
_WRONG: Final = 1


@click.group()
def users() -> None:
    """Clients' users, where they authenticate to kproxy."""


@users.command()
@_FILE
@click.option("--mechanism", "mechanisms", multiple=True, type=click.Choice(_MECHANISMS), default=_MECHANISMS)
@click.option("--iterations", type=int, default=None, help="Hashes of a password, 4096 to 100000; by default 8192.")
@click.argument("name")
def add(file: Path, mechanisms: tuple[str, ...], iterations: int | None, name: str) -> int:
    """Add a user, or give one another password; it is asked for, or read from standard input."""
    from kproxy.authentication.users import DEFAULT_ITERATIONS, MOST_ITERATIONS, name_problem
    from kproxy.authentication.users_file import add as add_user
    from kproxy.upstream.scram import FEWEST_ITERATIONS

    rounds = DEFAULT_ITERATIONS if iterations is None else iterations
    if not FEWEST_ITERATIONS <= rounds <= MOST_ITERATIONS:
        raise click.UsageError(f"--iterations must be {FEWEST_ITERATIONS} to {MOST_ITERATIONS}")
    if problem := name_problem(name):
        raise click.UsageError(problem)
    with _explained(file):
        is_new = add_user(file, name, _password(), tuple(dict.fromkeys(mechanisms)), rounds)
    click.echo(f"{name}: {'added' if is_new else 'has a new password'}")
    return 0


@users.command()
@_FILE
@click.argument("name")
def remove(file: Path, name: str) -> int:
    """Remove a user; its connections last until their session ends."""
    from kproxy.authentication.users_file import remove as remove_user

    with _explained(file):
        if not remove_user(file, name):
            raise CliError(f"{file}: there is no user {name!r}", _WRONG)
    click.echo(f"{name}: removed")
    return 0


@users.command(name="list")
@_FILE
def list_users(file: Path) -> int:
    """List the users and their mechanisms; no key is shown."""
    from kproxy.authentication.users_file import read

    with _explained(file):
        found = read(file)
    for mechanism, name in sorted(found, key=lambda key: (key[1], key[0])):
        click.echo(f"{mechanism} iterations={found[mechanism, name].iterations} {name}")
    return 0


def _password() -> str:
    if sys.stdin.isatty():
        typed: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return typed
    found = sys.stdin.read(_LARGEST + 1).removesuffix("\n").removesuffix("\r")
    if not found or len(found) > _LARGEST or not found.isprintable():
        raise click.UsageError(f"standard input must have the password: one line of 1 to {_LARGEST} characters")
    return found


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise CliError(f"{file}: {bare_reason(error)}", _WRONG) from None
