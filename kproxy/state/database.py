"""The SQLite file: opened with care, written in transactions. Blocking: for one thread at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from kproxy.state.store import StateError

VERSION: Final = 1
"""Of the tables; it rises when they change."""

_APPLICATION: Final = 0x6B707879  # "kpxy", in the file's header
_LOCK_SECONDS: Final = 5.0  # a sibling that ends, as in a restart, has this long to let go

Work = Callable[[sqlite3.Connection], object]


class Database:
    """One file, this process's alone while it is open."""

    def __init__(self, path: Path) -> None:
        """Opens or makes the file. StateError for one that is damaged, newer, another program's, or in use."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise self._error(f"cannot be opened: {error}; check the path and its permissions") from error
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Lets go of the file; nothing is lost without it."""
        with suppress(sqlite3.Error):  # its last checkpoint may fail on a full disk: the log beside the file has it all
            self._connection.close()

    def transact(self, works: Sequence[Work]) -> list[object]:
        """What each brings, all in one transaction. StateError, and none of them has happened, when one fails."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                results = [work(self._connection) for work in works]
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has ended the transaction already
                    self._connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._error(f"not kept: {error}; check the free space, and the disk") from error
        return results

    def _prepare(self) -> None:
        try:
            # EXCLUSIVE before WAL: no shared memory file, and a second process is refused instead of interleaved.
            self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            [(application,)] = self._connection.execute("PRAGMA application_id")
            [(version,)] = self._connection.execute("PRAGMA user_version")
            [(objects,)] = self._connection.execute("SELECT count(*) FROM sqlite_schema")
            if objects and application != _APPLICATION:
                raise self._error("is a database of another program; give kproxy a file of its own")
            if version > VERSION:
                raise self._error(
                    f"was written by a newer kproxy (tables {version}, known are {VERSION}); "
                    "run that one, or move the file away"
                )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")  # kept means kept, a power cut too
            self._check()
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise self._error("is in use by another process; each kproxy needs a file of its own") from error
            raise self._error(f"cannot be opened: {error}; check the path and its permissions") from error
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from error
        self.transact([_create])

    def _check(self) -> None:
        found = [row[0] for row in self._connection.execute("PRAGMA quick_check(1)")]
        if found != ["ok"]:
            raise self._damaged(str(found[0]))

    def _damaged(self, what: str) -> StateError:
        return self._error(
            f"is damaged, or no state file ({what}); restore it from a backup, or move it away to begin without state"
        )

    def _error(self, what: str) -> StateError:
        return StateError(f"state file {self.path}: {what}")


def _create(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE IF NOT EXISTS entries (table_name TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, "
        "PRIMARY KEY (table_name, key)) WITHOUT ROWID"
    )
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
