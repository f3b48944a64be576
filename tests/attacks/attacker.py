"""The attacker, in a process of its own: `python -m tests.attacks.attacker NAME PORT ADMIN_PORT SECONDS`.

It prepares the attack's bytes and prints a line; at a line on standard input it attacks, and prints another when it is
done. It keeps its connections until a further line.
"""

from __future__ import annotations

import json
import sys

from tests.bench.process import raise_file_limit

from .attack import Target
from .catalogue import ATTACKS

FILES = 20_000


def main(name: str, port: str, admin_port: str, seconds: str) -> None:
    """Attack once."""
    raise_file_limit(FILES)
    target = Target(int(port), int(admin_port), float(seconds))
    steps = ATTACKS[name].steps(target)
    next(steps)
    print("{}", flush=True)
    sys.stdin.readline()
    for _ in steps:
        pass
    print(json.dumps(target.facts), flush=True)
    sys.stdin.readline()
    target.close()
    print("{}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
