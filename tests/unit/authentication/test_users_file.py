"""The file of users is replaced as a whole, readable by its owner alone, and two writers lose nothing."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from kproxy.authentication.users import Users
from kproxy.authentication.users_file import add, read, remove

SHA_256, SHA_512 = "SCRAM-SHA-256", "SCRAM-SHA-512"
BOTH = (SHA_256, SHA_512)


def test_a_user_comes_changes_and_goes(tmp_path: Path) -> None:
    """Another password replaces the first one for all mechanisms; no password is in the file."""
    file = tmp_path / "users"
    assert add(file, "carol", "first-password", BOTH, 4096)
    assert not add(file, "carol", "other-password", (SHA_512,), 4096)
    assert set(read(file)) == {(SHA_512, "carol")}
    found, known = Users(read(file), b"").find(SHA_512, "carol")
    assert known
    assert found.matches("other-password")
    assert "password" not in file.read_text()
    assert remove(file, "carol")
    assert not remove(file, "carol")
    assert file.read_text() == ""


def test_its_mode(tmp_path: Path) -> None:
    """A new file is its owner's alone; another mode, which somebody chose, stays."""
    file = tmp_path / "users"
    add(file, "carol", "x", BOTH, 4096)
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o640)
    add(file, "dave", "x", BOTH, 4096)
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_its_owner(tmp_path: Path) -> None:
    """kproxy's own user, who must be able to read it whoever has changed it; nobody else changes it."""
    file = tmp_path / "users"
    add(file, "carol", "x", BOTH, 4096)
    os.chown(file, 65532, 65533)
    add(file, "dave", "x", BOTH, 4096)
    assert (file.stat().st_uid, file.stat().st_gid) == (65532, 65533)


def test_an_owner_that_cannot_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing changes, and the error says whose it is."""
    file = tmp_path / "users"
    add(file, "carol", "x", BOTH, 4096)
    os.chown(file, 65532, 65533)

    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refused)
    with pytest.raises(
        PermissionError, match="belongs to user 65532 and group 65533: run this as that user, or as root"
    ):
        remove(file, "carol")
    assert (SHA_256, "carol") in read(file)
    assert list(tmp_path.iterdir()) == [file]


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    """The file that it leads to is replaced."""
    (tmp_path / "link").symlink_to(tmp_path / "users")
    add(tmp_path / "link", "carol", "x", BOTH, 4096)
    assert (tmp_path / "link").is_symlink()
    assert (SHA_256, "carol") in read(tmp_path / "users")


def test_writers_at_the_same_time(tmp_path: Path) -> None:
    """Each one's user is there in the end."""
    file = tmp_path / "users"
    names = [f"user-{number}" for number in range(8)]
    threads = [threading.Thread(target=add, args=(file, name, "x", (SHA_256,), 4096)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name for _, name in read(file)} == set(names)


def test_a_wrong_file_is_left_as_it_is(tmp_path: Path) -> None:
    """Nothing is written over what cannot be read."""
    file = tmp_path / "users"
    file.write_text("carol: secret\n")
    with pytest.raises(ValueError, match="line 1"):
        add(file, "dave", "x", BOTH, 4096)
    assert file.read_text() == "carol: secret\n"


def test_a_failure_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full: the old file stays, and the new one goes."""
    file = tmp_path / "users"
    add(file, "carol", "x", BOTH, 4096)
    before = file.read_text()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        add(file, "dave", "x", BOTH, 4096)
    assert file.read_text() == before
    assert list(tmp_path.iterdir()) == [file]
