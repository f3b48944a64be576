"""The mark of a passed run, by what was tested: ${XDG_CACHE_HOME:-~/.cache}/kproxy/gate/<hash of HEAD's tree>."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from tests.gate.stage import ROOT


def git(*arguments: str) -> str:
    """Return what git prints, without the last newline. Raises `CalledProcessError`."""
    done = subprocess.run(("git", "-C", str(ROOT), *arguments), capture_output=True, text=True, check=True)
    return done.stdout.strip()


def marks() -> Path:
    """Return the directory of the marks."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kproxy" / "gate"


def leave(seconds: int) -> None:
    """Leave it; a checkout with changes of its own is no commit's."""
    if git("status", "--porcelain"):
        print("no mark: this checkout has changes that are not committed")
        return
    marks().mkdir(parents=True, exist_ok=True)
    text = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {seconds} s\n"
    (marks() / git("rev-parse", "HEAD^{tree}")).write_text(text, encoding="utf-8")
