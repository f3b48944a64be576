"""`python -m codegen` writes kproxy/wire/generated; `--check` compares; `--extract` renews schemas.json first."""

from __future__ import annotations

import argparse
import sys

from codegen.generate import GENERATED, stale, write


def main() -> int:
    """Run the command; return 1 when `--check` finds a difference, else 0."""
    parser = argparse.ArgumentParser(prog="python -m codegen", description=__doc__)
    parser.add_argument(
        "--extract", action="store_true", help="make schemas.json anew from the pinned kafka-clients jar"
    )
    parser.add_argument("--check", action="store_true", help="fail when the generated files are not up to date")
    options = parser.parse_args()
    if options.extract:
        from codegen.extract import extract  # noqa: PLC0415  # only this needs the jar

        extract()
    return _check() if options.check else _write()


def _check() -> int:
    names = stale()
    for name in names:
        print(f"{GENERATED / name} is not what the schemas give; run: python -m codegen")
    return 1 if names else 0


def _write() -> int:
    print(f"{write()} files in {GENERATED}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
