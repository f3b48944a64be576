"""The inputs that the fuzzer has kept so far, since each reaches something new: an archive for each target.

A worker begins with them, so a fuzzer on another machine goes on where this one ended. The tests replay them.
`python -m tests.fuzz.grown` makes the archives anew, of what is in build/fuzz/corpus.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.fuzz.targets import IN_PROCESS

ARCHIVES: Final = Path(__file__).with_name("grown")
_BUILT: Final = Path("build/fuzz/corpus")


def inputs(name: str, archives: Path = ARCHIVES) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of each input of a target; none where it has no archive."""
    path = archives / f"{name}.tar.xz"
    if not path.exists():
        return
    with tarfile.open(path, "r:xz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                yield member.name, file.read()


def unpack(name: str, directory: Path) -> None:
    """Write the inputs of a target into a directory, unless it has some."""
    if not any(directory.iterdir()):
        for file, data in inputs(name):
            (directory / file).write_bytes(data)


def pack(name: str, directory: Path, archives: Path = ARCHIVES) -> int:
    """Make an archive of a directory's files, the same one for the same files; return how many there are."""
    files = sorted(directory.iterdir())
    archives.mkdir(exist_ok=True)
    with tarfile.open(archives / f"{name}.tar.xz", "w:xz", preset=9) as archive:
        for file in files:
            data = file.read_bytes()
            member = tarfile.TarInfo(file.name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return len(files)


if __name__ == "__main__":
    for target in IN_PROCESS:
        if (_BUILT / target).is_dir():
            print(f"{target}: {pack(target, _BUILT / target):,} inputs")
