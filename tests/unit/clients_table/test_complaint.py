"""What clients print, in one line."""

from __future__ import annotations

import pytest

from tests.clients_table.complaint import MOST, complaint


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (
            'Traceback\n  File "x.py", line 1\nkafka.errors.UnsupportedVersionError: v0\n',
            "kafka.errors.UnsupportedVersionError: v0",
        ),
        (
            "in thread\nCaused by: org.apache.UnsupportedVersionException: v0\n\tat org.Error.main(Error.java:1)\n",
            "org.apache.UnsupportedVersionException: v0",
        ),
        ("dial tcp 127.0.0.1:9092: EOF\nbye\n", "dial tcp … EOF"),
        ("2026/12/01 03:55:56 error while consuming t1/2: t12\n", "… error while consuming TOPIC/2: t12"),
        ("no file /usr/lib/x.so: error\n", "no file … error"),
        ("one\n\ntwo\n", "two"),
        ("", "nothing"),
        ("error | a\tpipe", "error / a pipe"),
        ("error " + "x" * MOST, "error " + "x" * (MOST - 6)),
    ],
    ids=["python", "java", "addresses", "its own", "paths", "no error", "nothing", "a table's mark", "long"],
)
def test_one_line(output: str, line: str) -> None:
    """The last that names an error, else the last; what differs from run to run is left out."""
    assert complaint(output, "t1") == line
