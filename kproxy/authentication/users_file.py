"""Changes the file of users, as `kproxy users` is told. Who reads the file meanwhile sees the old or the new one."""

from __future__ import annotations

import fcntl
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kproxy.authentication.users import SALT_BYTES, Credential, credential, decoded, parsed, text_of

Credentials = dict[tuple[str, str], Credential]
"""By mechanism and name."""
_PRIVATE: Final = 0o600


def read(file: Path) -> Credentials:
    """Return what the file says; nothing where there is none yet. Raises OSError, ValueError."""
    try:
        return parsed(decoded(file.read_bytes()))
    except FileNotFoundError:
        return {}


def add(file: Path, name: str, password: str, mechanisms: Sequence[str], iterations: int) -> bool:
    """Give a user this password, in place of any other; return True for a new user. Raises OSError, ValueError."""
    made = {(one, name): credential(one, password, secrets.token_bytes(SALT_BYTES), iterations) for one in mechanisms}
    before = _changed(file, lambda found: {**_without(found, name), **made})
    return name not in _names(before)


def remove(file: Path, name: str) -> bool:
    """Take a user out; return False where there is no such user. Raises OSError, ValueError."""
    return name in _names(_changed(file, lambda found: _without(found, name)))


def _without(found: Credentials, name: str) -> Credentials:
    return {key: one for key, one in found.items() if key[1] != name}


def _names(found: Credentials) -> set[str]:
    return {name for _, name in found}


def _changed(file: Path, change: Callable[[Credentials], Credentials]) -> Credentials:
    """Replace the file by what `change` makes of it; return what it said before. Comments are not kept."""
    with _alone(file):
        before = read(file)
        after = change(dict(before))
        if after != before:
            _replace(file, text_of((name, one) for (_, name), one in sorted(after.items(), key=_by_name)))
        return before


def _by_name(item: tuple[tuple[str, str], Credential]) -> tuple[str, str]:
    (mechanism, name), _ = item
    return name, mechanism


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Hold the directory's lock: two commands at a time would lose one of both changes."""
    directory = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)


def _replace(file: Path, text: str) -> None:
    """Write a new file, and put it in the old one's place once it is on the disk. The old one's owner and mode stay.

    kproxy must still be able to read it: PermissionError where it would belong to somebody else from now on.
    """
    target = file.resolve()
    old = target.stat() if target.exists() else None
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")  # for nobody else to read
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
            opened.flush()
            if old is not None:
                _give(opened.fileno(), old)
            os.fchmod(opened.fileno(), _PRIVATE if old is None else old.st_mode & 0o777)
            os.fsync(opened.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _give(descriptor: int, old: os.stat_result) -> None:
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) == (old.st_uid, old.st_gid):
        return
    try:
        os.fchown(descriptor, old.st_uid, old.st_gid)
    except PermissionError as error:
        why = f"it belongs to user {old.st_uid} and group {old.st_gid}: run this as that user, or as root"
        raise PermissionError(error.errno, why) from None
