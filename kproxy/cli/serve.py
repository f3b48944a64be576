"""`kproxy serve`, which runs the proxy until a signal, and the flags for settings, also of `kproxy config show`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from kproxy.config import Config


LEVELS: Final = ("debug", "info", "warning", "error", "critical")
_LEVEL: Final = click.Choice((*LEVELS, "warn"), case_sensitive=False)  # as other programs have it
FORMATS: Final = ("json", "console", "auto")


def config_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the flags for settings.

    `load` reads their variables instead of click, so that its error messages name the variable.
    """
    options = (
        click.option("--config", type=Path, help="YAML file. [KPROXY_CONFIG]"),
        click.option("--bootstrap-servers", help="Brokers, host:port with commas. [KPROXY_BOOTSTRAP_SERVERS]"),
        click.option("--listen", help="host:port where clients bootstrap; nodes follow on. [KPROXY_LISTEN]"),
        click.option("--advertised-host", help="Host that clients are told for nodes. [KPROXY_ADVERTISED_HOST]"),
        click.option("--admin", help="host:port of metrics, probes and the API. [KPROXY_ADMIN]"),
        click.option("--log-level", type=_LEVEL, help="[KPROXY_LOG_LEVEL]"),
        click.option("--log-format", type=click.Choice(FORMATS, case_sensitive=False), help="[KPROXY_LOG_FORMAT]"),
    )
    for option in reversed(options):
        command = option(command)
    return command


def load_settings(
    config: Path | None = None, log_level: str | None = None, log_format: str | None = None, **flags: Any
) -> Config:
    """Load the configuration from the flags, the variables and the file as they are now; raises `ConfigError`."""
    from kproxy.config import load

    return load(config, flags | {"log.level": log_level, "log.format": log_format})


@click.command()
@config_options
def serve(**flags: Any) -> int:
    """Relay clients to a Kafka cluster until SIGTERM.

    Settings come from flags, then KPROXY_* variables, then the file, then defaults. Without a file
    --bootstrap-servers and --listen suffice: clients bootstrap at that port and reach the nodes at the following ones.
    SIGHUP has it read all of them again.
    """
    config = load_settings(**flags)
    with _absent("rich"):
        from kproxy.app import run

    return run(config, reload=partial(load_settings, **flags))


@contextmanager
def _absent(library: str) -> Iterator[None]:
    """Make imports of a library fail during the block.

    structlog imports rich for tracebacks in a form that kproxy does not print: 60 ms and 4 MB of every start.
    """
    known = sys.modules.get(library)
    sys.modules[library] = None  # type: ignore[assignment]  # None blocks an import, by the import system's own rules
    try:
        yield
    finally:
        del sys.modules[library]
        if known is not None:
            sys.modules[library] = known
