"""`kproxy errors`: what it lists and explains, and which names it does not know."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from kproxy.errors import ErrorClass
from kproxy.explained.errors import explain
from kproxy.wire.generated.error_codes import ErrorCode
from tests.unit.cli.running import printed, run


def test_explain_in_a_process() -> None:
    """All that there is to say about a code, a line each."""
    done = run("errors", "explain", "6")
    assert (done.returncode, done.stderr) == (0, "")
    first, *facts = done.stdout.splitlines()
    assert first == "6 NOT_LEADER_OR_FOLLOWER"
    said = dict(line.split(":", 1) for line in facts)
    assert {label: value.strip() for label, value in said.items()} == {
        "Class": "refresh-retriable",
        "Retriable": "yes",
        "Meaning": "The broker does not lead the partition, or has no replica of it: its leader has moved.",
        "Client": explain(6).client,
        "To do": "Nothing: the client tries again.",
    }


def test_what_kproxy_answers_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """The KIP and kproxy's own use of a code have lines of their own."""
    _, out, _ = printed(capsys, ["errors", "explain", "REBOOTSTRAP_REQUIRED"])
    assert [line.split(":")[0] for line in out.splitlines()[-2:]] == ["kproxy", "KIP"]
    assert out.endswith("KIP-1102\n")


@pytest.mark.parametrize("written", ["-1", "UNKNOWN_SERVER_ERROR", "unknown-server-error", "Unknown_Server_Error"])
def test_ways_to_name_a_code(capsys: pytest.CaptureFixture[str], written: str) -> None:
    """By its number, also a negative one, and by its name in any case."""
    code, out, _ = printed(capsys, ["errors", "explain", written])
    assert (code, out.splitlines()[0]) == (0, "-1 UNKNOWN_SERVER_ERROR")


@pytest.mark.parametrize(
    ("arguments", "of", "by_api"),
    [
        (["48"], "application-recoverable", {"Produce": "abortable"}),
        (["48", "--api", "Produce"], "abortable", {}),
        (["--api", "produce", "INVALID_TXN_STATE"], "abortable", {}),
        (["48", "--api", "EndTxn"], "application-recoverable", {}),
        (["3", "--api", "Produce"], "refresh-retriable", {}),
        (["0"], None, {}),
    ],
)
def test_classes_by_api(
    capsys: pytest.CaptureFixture[str], arguments: list[str], of: str | None, by_api: dict[str, str]
) -> None:
    """Only 48 is of another class in the answer of another API."""
    code, out, _ = printed(capsys, ["errors", "explain", "--json", *arguments])
    found = json.loads(out)
    assert (code, found["class"], found["class_by_api"]) == (0, of, by_api)


def test_json_has_every_fact(capsys: pytest.CaptureFixture[str]) -> None:
    """The same as `explain` says, for programs."""
    _, out, _ = printed(capsys, ["errors", "explain", "79", "--json"])
    found = explain(79)
    assert json.loads(out) == {
        "code": 79,
        "name": "MEMBER_ID_REQUIRED",
        "known": True,
        "class": "application-recoverable",
        "class_by_api": {},
        "retriable": False,
        "meaning": found.text.meaning,
        "client": found.client,
        "advice": found.text.advice,
        "kproxy": found.text.kproxy,
        "kip": 394,
    }


def test_a_number_that_nobody_knows(capsys: pytest.CaptureFixture[str]) -> None:
    """It says so, with the class of KIP-1050's rule: a newer broker may send it."""
    code, out, _ = printed(capsys, ["errors", "explain", "32767"])
    assert code == 0
    assert out.splitlines()[:2] == ["32767, an unknown code", "Class:     application-recoverable"]
    _, out, _ = printed(capsys, ["errors", "explain", "32767", "--json"])
    assert (json.loads(out)["known"], json.loads(out)["kip"]) == (False, None)


@pytest.mark.parametrize(
    ("arguments", "exit_code", "line"),
    [
        (
            ["NOT_LEADER_OR_FOLOWER"],
            1,
            "no error code is called 'NOT_LEADER_OR_FOLOWER'; did you mean NOT_LEADER_OR_FOLLOWER?\n",
        ),
        (["xyzzy"], 1, "no error code is called 'xyzzy'\n"),
        (["48", "--api", "Prodduce"], 1, "--api: no API of Kafka is called 'Prodduce'; did you mean Produce?\n"),
        (["48", "--api", "xyzzy"], 1, "--api: no API of Kafka is called 'xyzzy'\n"),
        (["32768"], 2, "32768 is no error code: they are -32768 to 32767 (see kproxy errors explain --help)\n"),
        (["--jsn"], 2, "No such option '--jsn'. (see kproxy errors explain --help)\n"),
        ([], 2, "Missing argument 'CODE|NAME'. (see kproxy errors explain --help)\n"),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], arguments: list[str], exit_code: int, line: str) -> None:
    """A line on standard error; a name that is nearly right is suggested."""
    assert printed(capsys, ["errors", "explain", *arguments]) == (exit_code, "", line)


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each code, whose name is in it whole."""
    code, out, _ = printed(capsys, ["errors", "list"])
    assert code == 0
    named = [words[1] for line in out.splitlines() if (words := line.split()) and words[0].lstrip("-").isdigit()]
    assert named == [error.name for error in ErrorCode]


@pytest.mark.parametrize("of", [one.value for one in ErrorClass])
def test_list_of_a_class(capsys: pytest.CaptureFixture[str], of: str) -> None:
    """Those of the class alone; 48 is in both of its classes."""
    _, out, _ = printed(capsys, ["errors", "list", "--class", of, "--json"])
    found = json.loads(out)["errors"]
    assert found
    assert [one["code"] for one in found if of not in (one["class"], *one["class_by_api"].values())] == []
    assert (48 in [one["code"] for one in found]) == (of in ("abortable", "application-recoverable"))


def test_list_as_json_has_all(capsys: pytest.CaptureFixture[str]) -> None:
    """Every code, by its number."""
    _, out, _ = printed(capsys, ["errors", "list", "--json"])
    assert [one["code"] for one in json.loads(out)["errors"]] == [error.value for error in ErrorCode]


def test_a_class_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    """The classes are named."""
    code, _, err = printed(capsys, ["errors", "list", "--class", "fatal"])
    assert code == 2
    assert all(one.value in err for one in ErrorClass)


def test_the_proxy_never_loads_the_texts() -> None:
    """They are for people who ask: what a running kproxy imports has none of them."""
    program = "import sys; import kproxy.app.run; print([name for name in sys.modules if 'explained' in name])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
