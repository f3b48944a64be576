"""`kproxy users`: what it writes and lists, and that a password comes from nowhere but standard input."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from kproxy.authentication.users import Users, parsed
from tests.support.proxy import KPROXY

PASSWORD = "correct horse"


def users(*arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command with this standard input."""
    command = [KPROXY, "users", *arguments]
    return subprocess.run(command, check=False, input=said, capture_output=True, text=True, timeout=30)


def test_add_list_remove(tmp_path: Path) -> None:
    """A user with both mechanisms; the list has no key, and a user that is not there is an error."""
    file = str(tmp_path / "users")
    added = users("add", "--file", file, "carol", said=f"{PASSWORD}\n")
    assert (added.returncode, added.stdout) == (0, "carol: added\n")
    assert users("add", "--file", file, "carol", said=PASSWORD).stdout == "carol: has a new password\n"
    known = Users(parsed(Path(file).read_text()), b"")
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        assert known.find(mechanism, "carol")[0].matches(PASSWORD)
    listed = users("list", "--file", file).stdout
    assert listed == "SCRAM-SHA-256 iterations=8192 carol\nSCRAM-SHA-512 iterations=8192 carol\n"
    assert users("remove", "--file", file, "carol").stdout == "carol: removed\n"
    again = users("remove", "--file", file, "carol")
    assert (again.returncode, again.stderr) == (1, f"{file}: there is no user 'carol'\n")


@pytest.mark.parametrize(
    ("arguments", "said", "why"),
    [
        (("carol",), "", "standard input must have the password"),
        (("carol",), "two\nlines\n", "standard input must have the password"),
        (("carol",), "x" * 1025, "standard input must have the password"),
        ((" carol",), PASSWORD, "begin or end with a blank"),
        (("--iterations", "4095", "carol"), PASSWORD, "must be 4096 to 100000"),
        (("--mechanism", "PLAIN", "carol"), PASSWORD, "PLAIN"),
    ],
)
def test_what_is_refused(tmp_path: Path, arguments: tuple[str, ...], said: str, why: str) -> None:
    """One line says why, and there is no file."""
    refused = users("add", "--file", str(tmp_path / "users"), *arguments, said=said)
    assert refused.returncode == 2
    assert why in refused.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "why"), [(b"carol\n", "line 1: is no user"), (b"\xff\n", "is not UTF-8 text"), (b"# no end", "whole")]
)
def test_files_that_are_no_users(tmp_path: Path, content: bytes, why: str) -> None:
    """Each command says so."""
    file = tmp_path / "users"
    file.write_bytes(content)
    for arguments in (("add", "carol"), ("remove", "carol"), ("list",)):
        refused = users(arguments[0], "--file", str(file), *arguments[1:], said=PASSWORD)
        assert refused.returncode == 1
        assert f"{file}: " in refused.stderr
        assert why in refused.stderr


def test_no_directory(tmp_path: Path) -> None:
    """The reason is the system's."""
    refused = users("add", "--file", str(tmp_path / "none" / "users"), "carol", said=PASSWORD)
    assert (refused.returncode, "No such file or directory" in refused.stderr) == (1, True)


def test_a_terminal_is_asked_without_echo(tmp_path: Path) -> None:
    """The password is asked for twice, and what is typed is not shown."""
    file, (ours, theirs) = tmp_path / "users", pty.openpty()
    command = [KPROXY, "users", "add", "--file", str(file), "carol"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True) as process:
        os.close(theirs)
        shown = b""
        for asked in (b"Password: ", b"Repeat for confirmation: "):
            while asked not in shown:
                shown += os.read(ours, 1024)
            os.write(ours, PASSWORD.encode() + b"\n")
        assert process.wait(30) == 0
        shown += os.read(ours, 1024)
    os.close(ours)
    assert b"carol: added" in shown
    assert PASSWORD.encode() not in shown
