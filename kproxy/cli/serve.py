"""`kproxy serve`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

from kproxy.cli.settings import load_settings, settings


@click.command()
@settings
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
