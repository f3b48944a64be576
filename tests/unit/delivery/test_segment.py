"""kproxy.delivery.files: files are complete or absent, even after their process was killed."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kproxy.delivery.files import Segment, prune, recover

WRITER = """
import sys
from pathlib import Path
from typing import Any
from kproxy.delivery.files import Segment
segment = Segment(Path(sys.argv[1]), "t", 0.0)
number = 0
while True:
    segment.append(b"".join(b"%d\\n" % each for each in range(number, number + 1000)))
    number += 1000
    print(number, flush=True)
"""

STAMP = "20260131T120000.062000Z-0123456"
"""All but the last digit."""


def visible(directory: Path) -> list[Path]:
    """Return the files that readers see, the oldest first."""
    return sorted(path for path in directory.iterdir() if not path.name.startswith("."))


def test_a_file_appears_when_it_is_finished(tmp_path: Path) -> None:
    """Until then its name begins with a dot; its content is that of all members together."""
    directory = tmp_path / "made" / "here"
    segment = Segment(directory, "t", 0.0)
    segment.append(b"a\n")
    segment.append(b"b\n")
    assert visible(directory) == []
    segment.finish()
    [file] = visible(directory)
    assert file.name.startswith("t-19700101T000000.000000Z-")
    assert file.name.endswith(".json.gz")
    assert (gzip.decompress(file.read_bytes()), file.stat().st_size) == (b"a\nb\n", segment.size)


def test_an_empty_file_goes(tmp_path: Path) -> None:
    """A file without content is removed."""
    Segment(tmp_path, "t", 0.0).finish()
    assert list(tmp_path.iterdir()) == []


def test_a_process_killed_in_the_middle(tmp_path: Path) -> None:
    """The recovered file has all lines of whole members, in order, and can be read to its end."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        while int(writer.stdout.readline()) < 50_000:
            pass
        assert recover(tmp_path, "t") == 0, "its writer lives"
        writer.send_signal(signal.SIGKILL)
        confirmed = max(map(int, writer.stdout), default=50_000)
    [part] = tmp_path.iterdir()
    with part.open("ab") as file:
        file.write(gzip.compress(b"torn\n" * 1000)[:-9])
    assert recover(tmp_path, "t") == 1
    [file_] = visible(tmp_path)
    numbers = [int(line) for line in gzip.decompress(file_.read_bytes()).split()]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= confirmed


def test_a_file_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left as it is, and the others are finished: a destination must not wait for it for ever."""
    ours, theirs = (tmp_path / f".t-{STAMP}{number}.json.gz.part" for number in (1, 2))
    for part in (ours, theirs):
        part.write_bytes(gzip.compress(b"{}\n"))
    really = Path.open

    def opened(path: Path, *arguments: Any, **named: Any) -> Any:
        if path == theirs:
            raise PermissionError(13, "Permission denied")
        return really(path, *arguments, **named)

    monkeypatch.setattr(Path, "open", opened)  # root may open all
    assert recover(tmp_path, "t") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [theirs.name, f"t-{STAMP}1.json.gz"]


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b\x08", b"garbage" * 1000])
def test_nothing_to_recover(tmp_path: Path, content: bytes) -> None:
    """A file without a whole member is removed; other prefixes are left alone."""
    (tmp_path / f".t-{STAMP}0.json.gz.part").write_bytes(content)
    (tmp_path / f".t-other-{STAMP}0.json.gz.part").write_bytes(content)
    assert recover(tmp_path, "t") == 0
    assert [path.name for path in tmp_path.iterdir()] == [f".t-other-{STAMP}0.json.gz.part"]


def test_recovery_of_what_a_power_cut_left(tmp_path: Path) -> None:
    """Whole members stay; zeros behind them are cut off, even more than one read returns."""
    whole = gzip.compress(os.urandom(200_000)) + gzip.compress(b"end\n")
    (tmp_path / f".t-{STAMP}0.json.gz.part").write_bytes(whole + bytes(100_000))
    assert recover(tmp_path, "t") == 1
    assert (tmp_path / f"t-{STAMP}0.json.gz").read_bytes() == whole


def test_a_full_disk_leaves_no_trace(tmp_path: Path) -> None:
    """An incomplete member is removed, and the next one follows the one before."""
    segment = Segment(tmp_path, "t", 0.0)
    segment.append(b"a\n")
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (segment.size + 100, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            segment.append(os.urandom(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    segment.append(b"b\n")
    segment.finish()
    assert gzip.decompress(segment.path.read_bytes()) == b"a\nb\n"


def test_the_oldest_are_deleted(tmp_path: Path) -> None:
    """The oldest files are deleted until the others fit."""
    for now in range(5):
        segment = Segment(tmp_path, "t", float(now))
        segment.append(b"x\n")
        segment.finish()
    files = visible(tmp_path)
    assert prune(tmp_path, "t", keep_bytes=3 * files[0].stat().st_size) == 2
    assert visible(tmp_path) == files[2:]


def test_a_prefix_that_another_one_begins_with(tmp_path: Path) -> None:
    """The files of orders-2 are neither deleted nor finished for those of orders, whichever is newer."""
    for prefix in ("t", "t-2", "t-20300101"):
        segment = Segment(tmp_path, prefix, 1.0)
        segment.append(b"x\n")
        segment.finish()
        unfinished = Segment(tmp_path, prefix, 2.0)
        unfinished.append(b"y\n")
        unfinished.close()
    assert prune(tmp_path, "t", keep_bytes=0) == 1
    assert recover(tmp_path, "t") == 1
    assert sorted(path.name.partition("-")[2][:3] for path in visible(tmp_path)) == ["197", "2-1", "203"]
