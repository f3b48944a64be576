"""`kproxy demo`: checks that the demo's libraries are installed, and runs the demo."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from kproxy.cli.output import fail

LONG_ENOUGH: Final = 10
"""Seconds in which a member can join, and leave, and both be seen."""
_DEMO_LIBRARIES: Final = ("confluent_kafka", "matplotlib")


@click.command()
@click.option("--kafka", is_flag=True, help="A real Apache Kafka instead of an embedded mock of one; needs Java.")
@click.option(
    "--hosted-groups", is_flag=True, help="kproxy coordinates the group itself; a third member joins it and leaves."
)
@click.option("--stay", is_flag=True, help="Stay up afterwards and print what to try.")
@click.option("--seconds", type=click.IntRange(min=1), help="How long the workload runs.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Directory for the plot.")
def demo(**options: Any) -> int:
    """Start a Kafka, kproxy in front of it, a producer and a consumer group; show, sum up and plot what happens."""
    from importlib.util import find_spec

    if options["hosted_groups"] and (options["seconds"] or LONG_ENOUGH) < LONG_ENOUGH:
        return fail(f"demo: --hosted-groups needs --seconds {LONG_ENOUGH} at least: the group rebalances twice")
    if missing := [library for library in _DEMO_LIBRARIES if find_spec(library) is None]:
        return fail(f"demo: {' and '.join(missing)} missing: pip install 'kproxy[demo]'")
    from kproxy.demo import run

    code: int = run(**{name: value for name, value in options.items() if value is not None})
    return code
