"""`python -m tests.attacks`: attack this checkout's kproxy, and another build beside it, and print the table."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
import time
from pathlib import Path

import click

from tests.bench import machine
from tests.bench.process import BenchError, raise_file_limit
from tests.bench.targets import BEFORE, COMPILED, KPROXY, compiled_program

from . import report
from .attack import Attack
from .attacker import FILES
from .catalogue import ATTACKS
from .measured import Found, measure


def _attacks(_: click.Context, __: click.Parameter, value: str | None) -> list[Attack]:
    if value is None:
        return list(ATTACKS.values())
    if unknown := set(value.split(",")) - ATTACKS.keys():
        raise click.BadParameter(f"{', '.join(sorted(unknown))}; there are {', '.join(ATTACKS)}")
    return [ATTACKS[name] for name in value.split(",")]


def _builds(attacked: Path | None, before: Path | None) -> dict[str, Path]:
    builds = {} if before is None else {BEFORE: before}
    if attacked is not None:
        return builds | {KPROXY: attacked}
    compiled = compiled_program()
    if compiled is None:
        raise BenchError("build/compiled has no kproxy: make compiled, or --kproxy .venv/bin/kproxy for plain Python")
    return builds | {COMPILED: compiled}


@click.command()
@click.option("--only", "attacks", default=None, callback=_attacks, help="Attacks, with commas; without it all.")
@click.option("--rounds", type=click.IntRange(1, 20), default=3, show_default=True, help="Rounds of each attack.")
@click.option(
    "--before",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The program kproxy of another commit's build, which is attacked, too.",
)
@click.option(
    "--kproxy",
    "attacked",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The program to attack; without it this checkout's compiled build.",
)
@click.option("--wait", default=60.0, show_default=True, help="Seconds within which memory must be given back.")
@click.option("--json", "path", type=click.Path(path_type=Path), default=Path("build/attacks.json"), show_default=True)
def main(
    attacks: list[Attack], rounds: int, before: Path | None, attacked: Path | None, wait: float, path: Path
) -> None:
    """Attack kproxy with a healthy client beside: how slow it gets, what memory it takes, whether the process lives."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that every started process is ended
    raise_file_limit(FILES)
    began = machine.describe()
    try:
        builds = _builds(attacked, before)
    except BenchError as error:
        sys.exit(f"attack: {error}")
    found: dict[str, dict[str, list[Found]]] = {}
    try:
        with tempfile.TemporaryDirectory(prefix="kproxy-attacks-") as directory:
            for attack in attacks:
                found[attack.name] = {build: [] for build in builds}
                _rounds(attack, builds, rounds, wait, Path(directory), found[attack.name])
    finally:
        _show(attacks, found, began, path)


def _rounds(
    attack: Attack, builds: dict[str, Path], rounds: int, wait: float, directory: Path, found: dict[str, list[Found]]
) -> None:
    for number in range(rounds):
        for build, chosen in builds.items():
            try:
                one = measure(attack, chosen, directory, wait)
            except BenchError as error:
                print(f"attack: {attack.name}, {build}: {error}", file=sys.stderr)
                continue
            found[build].append(one)
            said = f"round {number + 1}: slowest +{one.added:,.0f} ms, memory +{one.grown:,.0f} MiB"
            print(f"[{time.strftime('%H:%M:%S')}] {attack.name}, {build}, {said}", file=sys.stderr, flush=True)


def _show(attacks: list[Attack], found: report.Rounds, facts: dict[str, object], path: Path) -> None:
    print(", ".join(f"{name} {value}" for name, value in facts.items()))
    print("\nMilliseconds without → with the attack; MiB before → at most → a minute after.\n")
    shown = report.table(attacks, found)
    print(shown)
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = {
        name: {build: [one.as_json() for one in rounds] for build, rounds in builds.items()}
        for name, builds in found.items()
    }
    path.write_text(json.dumps({"machine": facts, "attacks": samples}, indent=1) + "\n")
    path.with_suffix(".md").write_text(report.summary(attacks, found) + "\n")
    print(f"\nAll rounds: {path}; a table of the builds side by side: {path.with_suffix('.md')}")


if __name__ == "__main__":
    main()
