"""Open the SQLite file of `state.path`, bring its schema up to date, and explain its errors.

`connect` runs once at start, `fault` whenever SQLite fails. Everything here blocks: use a thread.
"""

from __future__ import annotations

import os
import sqlite3
from typing import Any, Final

from kproxy.state.store import StateError, StateLockedError

APPLICATION_ID: Final = int.from_bytes(b"kprx")

# Each entry takes the schema from its index to the next number, which is stored in `user_version`. Released entries
# never change: a change is a new entry. Each entry is one statement, because executescript would commit.
MIGRATIONS: Final = (
    "CREATE TABLE entries (collection TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,"
    " PRIMARY KEY (collection, key))",
)

_ELSEWHERE: Final = "or name another file in state.path"
_NEW: Final = "move it and its -wal file away, and kproxy starts with an empty one"
# Looked up by the whole code first, then by its low byte, the kind of error.
_REASONS: Final = {
    # The error of a read-only file, before anything is written.
    sqlite3.SQLITE_IOERR_LOCK: "cannot be locked for writing; check its permissions, and that its file system has "
    f"locks, {_ELSEWHERE}",
    sqlite3.SQLITE_NOTADB: f"is no SQLite database; {_NEW}, {_ELSEWHERE}",
    sqlite3.SQLITE_CORRUPT: f"is damaged; put a backup in its place, or {_NEW}",
    sqlite3.SQLITE_CANTOPEN: f"cannot be opened; its directory must be there and kproxy must be able to write to it, "
    f"{_ELSEWHERE}",
    sqlite3.SQLITE_READONLY: f"cannot be written; check its permissions and its directory's, {_ELSEWHERE}",
    sqlite3.SQLITE_PERM: f"may not be accessed; check its permissions and its directory's, {_ELSEWHERE}",
    sqlite3.SQLITE_FULL: "cannot grow, the disk is full; free some space",
    sqlite3.SQLITE_IOERR: "cannot be read or written; check the disk, its free space and the process's limits",
}


def connect(path: str) -> sqlite3.Connection:
    """Return a connection that owns the file, with the newest schema; any thread may use it, one at a time.

    Raises StateLockedError at once when another process has the file, StateError for every other reason.
    """
    try:
        # Absolute, so that ":memory:" and "" are files like any other. isolation_level None: no implicit transactions.
        connection = sqlite3.connect(os.path.abspath(path), timeout=0, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise fault(path, error) from error
    try:
        _prepare(connection, path)
    except (sqlite3.Error, UnicodeDecodeError) as error:  # of an error whose text quotes the damaged file
        connection.close()
        raise fault(path, error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def fault(path: str, error: Exception) -> StateError:
    """Return an error for people: the file, what is wrong with it, what to do."""
    unknown = sqlite3.SQLITE_CORRUPT if isinstance(error, UnicodeDecodeError) else sqlite3.SQLITE_ERROR
    code = getattr(error, "sqlite_errorcode", unknown)
    kind = code & 0xFF
    if kind in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StateLockedError(f"{path} is in use already; stop the process that has it, {_ELSEWHERE}")
    reason = _REASONS.get(code) or _REASONS.get(kind)
    if reason is None:
        return StateError(f"{path} cannot take this: {error}")
    return StateError(f"{path} {reason} ({getattr(error, 'sqlite_errorname', error)})")


def _prepare(connection: sqlite3.Connection, path: str) -> None:
    # Text that is no UTF-8 is for its reader to refuse; SQLite would refuse all rows of the query.
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    # Only one process may have the file: two would not see each other's changes in what they hold in memory. The lock
    # also makes the WAL's shared memory unnecessary, which network file systems lack.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    with connection:
        connection.execute("BEGIN EXCLUSIVE")
        _check(connection, path)
    # From here on the file is known to be kproxy's, or empty.
    connection.execute("PRAGMA journal_mode = WAL")
    # NORMAL would not sync the WAL at a commit: a power failure could lose acknowledged changes. Group commit shares
    # the cost of the sync.
    connection.execute("PRAGMA synchronous = FULL")
    _migrate(connection)


def _check(connection: sqlite3.Connection, path: str) -> None:
    version = _pragma(connection, "user_version")
    if _pragma(connection, "application_id") != APPLICATION_ID:
        if version or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise StateError(f"{path} is the database of another program; name another file in state.path")
    elif version > len(MIGRATIONS):
        raise StateError(
            f"{path} is of a newer kproxy (schema {version}, this one knows {len(MIGRATIONS)}); "
            f"start that version, {_ELSEWHERE}"
        )
    elif version and not connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'entries'").fetchone()[0]:
        raise StateError(f"{path} lacks kproxy's table; put a backup in its place, or {_NEW}")
    # Find damage now, at start, and not when a client first needs the page. It takes 1 ms a MiB.
    if (found := _pragma(connection, "quick_check(1)")) != "ok":
        raise StateError(f"{path} {_REASONS[sqlite3.SQLITE_CORRUPT]} ({' '.join(found.split())})")


def _migrate(connection: sqlite3.Connection) -> None:
    # Write nothing to a file that is up to date, so that a proxy can start on a full disk.
    if not (missing := MIGRATIONS[_pragma(connection, "user_version") :]):
        return
    with connection:
        connection.execute("BEGIN")
        for statement in missing:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _pragma(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]
