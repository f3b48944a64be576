"""kproxy.state.database: files that cannot be used, and their errors."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from kproxy.state import database
from kproxy.state.store import StateError, StateLockedError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a file that does not exist yet."""
    return tmp_path / "state.db"


def execute(path: Path, *statements: str) -> None:
    """Execute statements on a connection that is not kproxy's."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def filled(path: Path) -> None:
    """Make a file of kproxy with some pages."""
    connection = database.connect(str(path))
    rows = [("table", f"{number:04}", bytes(1000)) for number in range(200)]
    with connection:
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
    connection.close()


def refusal(path: Path | str) -> str:
    """Return the error for a file that cannot be used: one line with its path."""
    with pytest.raises(StateError) as caught:
        database.connect(str(path))
    said = str(caught.value)
    assert said.startswith(str(path))
    assert "\n" not in said
    return said


def test_a_new_file_has_the_schema_and_kproxy_s_mark(path: Path) -> None:
    """application_id marks the file as kproxy's, and user_version is its schema's version."""
    database.connect(str(path)).close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (0x6B707278,)
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.close()


def test_an_empty_file_is_a_new_one(path: Path) -> None:
    """An empty file, which an early crash or `touch` leaves, is accepted."""
    path.touch()
    database.connect(str(path)).close()
    filled(path)


def test_the_names_that_sqlite_takes_for_memory_are_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`:memory:` is a file in the working directory, so its name loses no data."""
    monkeypatch.chdir(tmp_path)
    database.connect(":memory:").close()
    assert (tmp_path / ":memory:").stat().st_size > 0
    assert "cannot be opened" in refusal("")


@pytest.mark.parametrize("content", [b"bootstrap_servers: [a:9092]\n" * 100, b"SQLite format 3\0" + bytes(5000)])
def test_a_file_that_is_no_database(path: Path, content: bytes) -> None:
    """Any other file is left unchanged; the error has its path and says what to do."""
    path.write_bytes(content)
    assert "is no SQLite database; move it and its -wal file away" in refusal(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_database_of_another_program_is_left_alone(path: Path, mode: str) -> None:
    """A database with other tables is refused and not changed."""
    execute(path, f"PRAGMA journal_mode = {mode}", "CREATE TABLE theirs (a)")
    before = path.read_bytes()
    assert refusal(path) == f"{path} is the database of another program; name another file in state.path"
    assert path.read_bytes() == before


def test_a_file_that_lost_its_middle(path: Path) -> None:
    """Damage beyond the first page is found at opening."""
    filled(path)
    data = bytearray(path.read_bytes())
    data[4096 * 3 : 4096 * 20] = b"\xff" * (4096 * 17)
    path.write_bytes(data)
    assert "is damaged; put a backup in its place, or move it and its -wal file away" in refusal(path)


@pytest.mark.parametrize(
    ("size", "why"),
    [
        (2, "is no SQLite database"),
        *((size, "is damaged") for size in (99, 100, 512, 4095, 4096, 8192, 50_000)),
    ],
)
def test_a_file_that_was_cut_off(path: Path, size: int, why: str) -> None:
    """An incomplete copy is refused, wherever it ends."""
    filled(path)
    path.write_bytes(path.read_bytes()[:size])
    assert why in refusal(path)


def test_every_damaged_byte_of_the_header_is_survived(path: Path) -> None:
    """With a wrong byte anywhere in the header, the file works or raises StateError, and nothing else."""
    filled(path)
    good = path.read_bytes()
    refused = 0
    for offset in range(100):
        path.write_bytes(good[:offset] + bytes([good[offset] ^ 0xFF]) + good[offset + 1 :])
        try:
            database.connect(str(path)).close()
        except StateError:
            refused += 1
    assert refused > 20


def test_a_schema_that_is_no_text(path: Path) -> None:
    """SQLite quotes a damaged schema in its error; where those bytes are no UTF-8 the file is damaged all the same."""
    filled(path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"sqlite_autoindex", b"\xffqlite_autoindex"))
    assert "is damaged" in refusal(path)


def test_an_older_schema_is_brought_up_and_a_newer_one_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new kproxy migrates and keeps the rows; an old one then says that a newer kproxy wrote the file."""
    filled(path)
    with monkeypatch.context() as patch:
        patch.setattr(database, "MIGRATIONS", (*database.MIGRATIONS, "CREATE TABLE more (a)"))
        connection = database.connect(str(path))
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (200,)
        assert connection.execute("SELECT count(*) FROM more").fetchone() == (0,)
        connection.close()
    assert "is of a newer kproxy (schema 2, this one knows 1); start that version" in refusal(path)


def test_a_migration_is_whole_or_not_at_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a later step fails, the file is unchanged, and the old version works with it."""
    filled(path)
    with monkeypatch.context() as patch:
        patch.setattr(database, "MIGRATIONS", (*database.MIGRATIONS, "CREATE TABLE more (a)", "CREATE TABLE more (a)"))
        assert "cannot take this: table more already exists" in refusal(path)
    connection = database.connect(str(path))
    assert connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [("entries",)]
    connection.close()


def test_a_directory_and_a_path_that_leads_nowhere(tmp_path: Path) -> None:
    """Neither can be a state file; the errors have both paths."""
    assert "cannot be opened; its directory must be there" in refusal(tmp_path)
    assert "cannot be opened; its directory must be there" in refusal(tmp_path / "none" / "state.db")
    assert not (tmp_path / "none").exists()


def test_two_at_one_file(path: Path) -> None:
    """The second is refused while the first has the file, with an error of its own, so that the caller can wait."""
    first = database.connect(str(path))
    with pytest.raises(StateLockedError, match=r"state\.db is in use already; stop the process that has it"):
        database.connect(str(path))
    first.close()
    database.connect(str(path)).close()


def test_a_file_without_its_table(path: Path) -> None:
    """Somebody took it out: one error that says so, not one for each query."""
    filled(path)
    execute(path, "DROP TABLE entries")
    assert "lacks kproxy's table; put a backup in its place" in refusal(path)
