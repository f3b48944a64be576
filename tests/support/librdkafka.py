"""librdkafka in a release that no binding for today's Python or node has, built into the cache, once.

Its sources are in a package of npm, node-rdkafka's.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from kproxy.local_kafka import jars
from kproxy.local_kafka.processes import locked
from tests.support import npm

SOURCES: Final = {"0.11.5": "2.4.2"}
"""By its release, that of node-rdkafka which has its sources."""
_SOURCES: Final = "package/deps/librdkafka"
_SECONDS: Final = 600


def library(release: str) -> Path:
    """Return the shared library, which is C. AssertionError: npm or a compiler is missing, or its complaint."""
    home = jars.cache() / f"librdkafka-{release}"
    with locked(home):
        if not home.exists():
            scratch = Path(tempfile.mkdtemp(prefix=".librdkafka-", dir=home.parent))
            try:
                _build(release, scratch)
                (scratch / "built").rename(home)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    return home / "lib" / "librdkafka.so.1"


def _build(release: str, scratch: Path) -> None:
    """Build it, without its C++ half, into the directory `built`."""
    with tarfile.open(npm.packed(f"node-rdkafka@{SOURCES[release]}", scratch)) as package:
        package.extractall(scratch, filter="data")
    to_c = ("make", "-C", "src")
    for command in (("./configure", f"--prefix={scratch / 'built'}"), to_c, (*to_c, "install")):
        done = subprocess.run(
            command, cwd=scratch / _SOURCES, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
        assert done.returncode == 0, f"librdkafka {release}: {' '.join(command)}: {done.stderr[-1000:]}"
