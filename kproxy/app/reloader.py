"""Reloads the configuration: at SIGHUP, when an operator asks for it, and TLS's files alone when they change.

`Process` makes a `Reloader` when it starts. One reload runs at a time; each is counted, and the log says what came of
it.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

import structlog
import trio

from kproxy.admin.security import files_of_admin
from kproxy.app.reload import apply, read_files
from kproxy.cluster.security import files_of
from kproxy.config.reload import Changes
from kproxy.config.secret import secrets_of
from kproxy.errors import KproxyError
from kproxy.observe.faults import boundary
from kproxy.observe.logs import hide
from kproxy.observe.troubles import Where

if TYPE_CHECKING:
    from kproxy.app.readiness import Serving
    from kproxy.config import Config

Read = Callable[[], "Config"]
"""Reads the configuration again, as at the start; raises `ConfigError`."""
T = TypeVar("T")
Stamp = tuple[int, int, int, int, int] | None
"""Device, inode, size, and the times of content and permissions of a file, followed through links; None for none."""
_SETTLED: Final = 1.0
"""Seconds in which files that have changed must not change again: they may be half-written, or not all replaced yet."""

log = structlog.get_logger("kproxy")


class Reloader:
    """The reloads of one process."""

    def __init__(self, process: Serving, read: Read) -> None:
        self._process = process
        self._read = read
        self._turn = trio.Lock()
        self._is_refused = False
        """Whether the configuration was refused that there is now, for all that is known."""

    async def run(self) -> None:
        """Reload at each SIGHUP; a bad configuration changes nothing."""
        with trio.open_signal_receiver(signal.SIGHUP) as signals:
            async for _ in signals:
                with boundary(self._process.counters.troubles, Where.RELOAD):
                    await self._tried(self._reload)

    async def reload(self) -> Changes:
        """Apply the configuration anew; raises `KproxyError` where nothing has changed, with the reason."""
        return await self._counted(self._reload)

    async def _reload(self) -> Changes:
        config = await trio.to_thread.run_sync(self._read)
        hide(secrets_of(config.with_secrets))
        changed = await apply(self._process, config)
        clusters = {name: sorted(keys) for name, keys in changed.clusters.items()}
        log.info(
            "reloaded",
            process=sorted(changed.process),
            clusters=clusters,
            added=list(changed.added),
            removed=list(changed.removed),
        )
        return changed

    async def watch(self, interval: Callable[[], float]) -> None:
        """Read TLS's files again whenever they change; look at them every `interval` seconds, until cancelled."""
        seen = await self._stamps()
        while True:
            await trio.sleep(interval())
            found = await self._stamps()
            if found != seen:
                seen = await self._settled(found)
                await self._tried(self._renew, of_files=True)

    async def _settled(self, found: Mapping[str, Stamp]) -> Mapping[str, Stamp]:
        while True:
            await trio.sleep(_SETTLED)
            before, found = found, await self._stamps()
            if found == before:
                return found

    async def _stamps(self) -> Mapping[str, Stamp]:
        files = files_of_admin(self._process.config.admin)
        files = files.union(*(files_of(cluster.settings) for cluster in self._process.clusters))
        return await trio.to_thread.run_sync(_stamps, files)

    async def _renew(self) -> None:
        read = await read_files(self._process.config)
        read.apply(self._process)
        log.info("certificates read again", clusters=sorted(read.clusters))

    async def _tried(self, act: Callable[[], Awaitable[object]], *, of_files: bool = False) -> None:
        try:
            await self._counted(act, of_files=of_files)
        except KproxyError:
            pass  # it is logged

    async def _counted(self, act: Callable[[], Awaitable[T]], *, of_files: bool = False) -> T:
        """Do it when no other reload is under way; count and log how it ends.

        `of_files`: TLS's files alone are read again, which makes no configuration good that was refused before.
        """
        counters = self._process.counters.reloads
        async with self._turn:
            try:
                done = await act()
            except KproxyError as error:
                self._is_refused = self._is_refused or not of_files
                counters.refuse()
                log.error("reload refused, nothing has changed", reason=str(error))
                raise
            self._is_refused = self._is_refused and of_files
            if self._is_refused:
                counters.applied += 1
            else:
                counters.apply(time.time())
            return done


def _stamps(files: Iterable[str]) -> Mapping[str, Stamp]:
    return {file: _stamp(file) for file in files}


def _stamp(file: str) -> Stamp:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns  # chmod changes the last one
