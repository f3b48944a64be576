"""The test client in Rust, built into the cache, once."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from kproxy.local_kafka import jars
from kproxy.local_kafka.processes import locked

SOURCES = Path(__file__).with_name("rust") / "rskafka"
MISSING = "rskafka needs cargo on PATH: install Rust 1.85 or newer (the Rust project's installer, or Debian's rust-all)"


def rskafka() -> Path:
    """Return the program that writes and reads with rskafka. AssertionError: Rust is missing, or its complaint."""
    cargo = shutil.which("cargo")
    assert cargo, MISSING
    program = jars.cache() / f"rskafka-{rskafka_version()}-{_digest()}"
    with locked(program):
        if not program.exists():
            _build(cargo, program)
    return program


def rskafka_version() -> str:
    """Return the pinned version, as `0.6.0`."""
    found = re.search(r'rskafka = .*"=([0-9.]+)"', (SOURCES / "Cargo.toml").read_text())
    assert found, "no rskafka in Cargo.toml"
    return found[1]


def _digest() -> str:
    files = (SOURCES / name for name in ("Cargo.toml", "Cargo.lock", "src/main.rs"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]


def _build(cargo: str, program: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".cargo-", dir=program.parent) as scratch:
        command = [cargo, "build", "--quiet", "--locked", "--target-dir", scratch]
        done = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, f"cargo build in {SOURCES}: {done.stderr[-1000:]}"
        (Path(scratch) / "debug" / "resuming").rename(program)
