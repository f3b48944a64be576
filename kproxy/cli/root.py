"""`kproxy` itself: the group of its commands, and the exit codes of their errors.

`main` is the entry point of the script `kproxy`, and of `python -m kproxy`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Final

import click

from kproxy import __version__
from kproxy.cli.output import INTERRUPTED, CliError, fail, help_if_bare
from kproxy.errors import ConfigError

_MODULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "clients": "kproxy.cli.remote",
        "clusters": "kproxy.cli.remote",
        "config": "kproxy.cli.config",
        "demo": "kproxy.cli.demo",
        "errors": "kproxy.cli.errors",
        "failover": "kproxy.cli.remote",
        "faults": "kproxy.cli.faults",
        "groups": "kproxy.cli.groups",
        "pipeline": "kproxy.cli.pipeline",
        "rebootstrap": "kproxy.cli.remote",
        "reload": "kproxy.cli.remote",
        "serve": "kproxy.cli.serve",
        "telemetry": "kproxy.cli.telemetry",
        "transactions": "kproxy.cli.transactions",
        "users": "kproxy.cli.users",
    }
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; a user's mistake is one line on standard error and exit code 2."""
    try:
        return kproxy.main(arguments, prog_name="kproxy", standalone_mode=False) or 0
    except click.UsageError as error:
        where = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        return fail(" ".join(error.format_message().split()) + where)
    except ConfigError as error:
        return fail(str(error))
    except CliError as error:
        return fail(str(error), error.code)
    except click.Abort:
        return INTERRUPTED


class _Commands(click.Group):
    """Imports a command only when it is used, so that the other commands do not slow the start of `serve`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _MODULES:
            return None
        command: click.Command = getattr(import_module(_MODULES[cmd_name]), cmd_name)
        return command


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from kproxy.compiled import is_compiled

        click.echo(f"kproxy {__version__}{' (compiled)' if is_compiled() else ''}")
        context.exit()


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version and exit."
)
@click.pass_context
def kproxy(context: click.Context) -> None:
    """A Kafka proxy: every client through one address, none to a broker's own."""
    help_if_bare(context)
