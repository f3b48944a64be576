"""The test clients in Go, built into the cache, once."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from kproxy.local_kafka import jars
from kproxy.local_kafka.processes import locked

SOURCES = Path(__file__).with_name("go")
_OLD_RELEASES = Path(__file__).with_name("go_releases")
_WHAT_ALL_DO = _OLD_RELEASES / "resuming"
MISSING = (
    "franz-go needs go on PATH: install Go 1.26 or newer (the Go project's archive, or Debian's where it is new), "
    "or leave these tests out with `pytest -m 'not go'`"
)


def franz_go() -> Path:
    """Return the program of all scenarios in Go. AssertionError: Go is missing, or its complaint."""
    return _built(SOURCES, f"franz-go-{franz_go_version()}-{_digest(SOURCES)}")


def resuming(library: str, release: str) -> list[str]:
    """Return the command, without its settings, of what tests/support/client_commands.py runs of a library.

    A release that is not the pinned one is a module of its own: one program can have a library in one release only.
    """
    old = _OLD_RELEASES / f"{library}-{release}"
    if old.exists():
        return [str(_built(old, f"{old.name}-{_digest(_WHAT_ALL_DO, old)}"))]
    return [str(franz_go()), f"resuming-{library}"]


def franz_go_version() -> str:
    """Return the pinned version, as `1.22.2`."""
    return _version("github.com/twmb/franz-go")


def sarama_version() -> str:
    """Return the pinned version, as `1.61.1`."""
    return _version("github.com/IBM/sarama")


def kafka_go_version() -> str:
    """Return the pinned version, as `0.4.51`."""
    return _version("github.com/segmentio/kafka-go")


def _version(module: str) -> str:
    found = re.search(rf"{re.escape(module)} v(\S+)", (SOURCES / "go.mod").read_text())
    assert found, f"no {module} in go.mod"
    return found[1]


def _digest(*directories: Path) -> str:
    files = [file for directory in directories for file in sorted(directory.iterdir())]
    return hashlib.sha256(b"".join(file.name.encode() + file.read_bytes() for file in files)).hexdigest()[:8]


def _built(sources: Path, name: str) -> Path:
    go = shutil.which("go")
    assert go, MISSING
    home = jars.cache() / name
    with locked(home):
        if not home.exists():
            _build(go, sources, home)
    return home / "franz"


def _build(go: str, sources: Path, home: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=".go-", dir=home.parent))
    try:
        command = [go, "build", "-trimpath", "-buildvcs=false", "-o", str(scratch / "franz"), "."]
        done = subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, f"go build in {sources}: {done.stderr[-1000:]}"
        scratch.rename(home)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
