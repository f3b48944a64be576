"""A file of gzip members under construction: readers see it whole or not at all. Blocking: for threads."""

from __future__ import annotations

import fcntl
import gzip
import os
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

SUFFIX: Final = ".json.gz"
_PART: Final = ".part"
_CHUNK: Final = 64 * 1024
_GZIP: Final = 31  # zlib's window bits for a gzip member


class Segment:
    """`.NAME.part` until it is finished: Spark, like ls, passes over names that begin with a dot."""

    def __init__(self, directory: Path, prefix: str, now: float) -> None:
        """Makes the file, and the directory when it is missing; `now` in Unix seconds. Raises OSError."""
        directory.mkdir(parents=True, exist_ok=True)
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        self.path = directory / f"{prefix}-{stamp}-{uuid4().hex[:8]}{SUFFIX}"
        self.size = 0
        self._part = _part_of(self.path)
        self._file = self._part.open("xb", buffering=0)
        # Whoever cleans up after a crash leaves it alone while this process lives.
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def append(self, lines: bytes) -> None:
        """Adds a gzip member of its own, so that the file is whole after each. OSError leaves no trace of it."""
        member = gzip.compress(lines, 6)
        try:
            _write(self._file, member)
        except OSError:
            self._file.truncate(self.size)
            self._file.seek(self.size)
            raise
        self.size += len(member)

    def finish(self) -> None:
        """Shows the file under its name, on the disk with all that is in it; an empty one goes.

        Raises OSError, and may be called again then.
        """
        if self.size:
            _show(self._file, self.path)
        else:
            self._part.unlink()
        self.close()

    def close(self) -> None:
        """Leaves the file as it is; `recover` will show it."""
        self._file.close()


def recover(directory: Path, prefix: str) -> int:
    """Shows what a process left behind that was killed, up to the last whole member; how many files. Raises OSError."""
    shown = 0
    for part in directory.glob(f".{prefix}-[0-9]*{SUFFIX}{_PART}"):
        with part.open("r+b", buffering=0) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue  # its process lives
            size = _whole_members(file)
            if size:
                file.truncate(size)
                _show(file, part.with_name(part.name[1 : -len(_PART)]))
                shown += 1
            else:
                part.unlink()
    return shown


def prune(directory: Path, prefix: str, keep_bytes: int) -> int:
    """Deletes the oldest finished files until the others fit; how many. Raises OSError."""
    files = sorted(directory.glob(f"{prefix}-[0-9]*{SUFFIX}"), reverse=True)
    kept = deleted = 0
    for file in files:
        kept += file.stat().st_size
        if kept > keep_bytes:
            file.unlink()
            deleted += 1
    return deleted


def _part_of(path: Path) -> Path:
    return path.with_name(f".{path.name}{_PART}")


def _write(file: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _show(file: BinaryIO, path: Path) -> None:
    os.fsync(file.fileno())
    _part_of(path).rename(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _whole_members(file: BinaryIO) -> int:
    """How many bytes of the file are whole members."""
    whole = read = 0
    member = zlib.decompressobj(_GZIP)
    try:
        while data := file.read(_CHUNK):
            read += len(data)
            while data:
                member.decompress(data)
                if not member.eof:
                    break
                data = member.unused_data
                whole = read - len(data)
                member = zlib.decompressobj(_GZIP)
    except zlib.error:
        pass  # a disk that lost power may hold anything behind what was synced
    return whole
