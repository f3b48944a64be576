"""kproxy.cli.admin_port: URLs, and servers that are no admin port of kproxy."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kproxy.cli import admin_port
from kproxy.cli.admin_port import AdminPort
from kproxy.cli.output import CliError
from tests.unit.cli.running import printed


@contextmanager
def answering(answer: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server that reads one request's head, sends `answer` and closes: its URL, and what it read."""
    read: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)

        def serve() -> None:
            peer, _ = listener.accept()
            with peer:
                read.append(peer.recv(65536))
                peer.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", read
        finally:
            thread.join(30)


def response(status: str, body: bytes, *headers: str) -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""])
    return head.encode() + body


@pytest.mark.parametrize(
    "url",
    [
        "", "kproxy", "kproxy:9190", "127.0.0.1:9190", "ftp://kproxy", "http://", "http://:9190", "http://k:x",
        "http://k:99999", "http://k/?a=b", "http://k/#a", "http://[::1", "file:///etc",
    ],
)  # fmt: skip
def test_what_is_no_url(url: str) -> None:
    """One line that says how to write one, exit code 2; nothing is guessed."""
    with pytest.raises(CliError, match="is no URL of an admin port; write http://host:port") as caught:
        AdminPort(url)
    assert caught.value.code == 2


def test_a_path_before_the_api() -> None:
    """Something may stand before kproxy that has other things on other paths."""
    with answering(response("200 OK", b'{"a": 1}')) as (url, read):
        assert AdminPort(f"{url}/gateway/").get("/api/v1/clusters", cluster="a&b", after=None) == {"a": 1}
    assert read[0].startswith(b"GET /gateway/api/v1/clusters?cluster=a%26b HTTP/1.1\r\n")


def test_a_command_is_json() -> None:
    """With the Content-Type that the API asks for, and without what browsers add."""
    with answering(response("200 OK", b"{}")) as (url, read):
        AdminPort(url).post("/x", {"to": None})
    assert b"\r\nContent-Type: application/json\r\n" in read[0]
    assert b"Origin" not in read[0]


def test_a_token(tmp_path: Path) -> None:
    """Commands bear it, pages do not."""
    (tmp_path / "token").write_text("s3cret\n")
    with answering(response("200 OK", b"{}")) as (url, read):
        AdminPort(url, str(tmp_path / "token")).post("/x", {})
    assert b"\r\nAuthorization: Bearer s3cret\r\n" in read[0]
    with answering(response("200 OK", b"{}")) as (url, read):
        AdminPort(url, str(tmp_path / "token")).get("/x")
    assert b"s3cret" not in read[0]


@pytest.mark.parametrize(("content", "why"), [(None, "No such file"), ("", "has no token"), ("a\nb", "has no token")])
def test_a_file_without_a_token(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, why: str
) -> None:
    """One line, exit code 2."""
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content)
    code, out, err = printed(capsys, ["reload", "--token-file", str(file)])
    assert (code, out) == (2, "")
    assert err.startswith(f"{file}: {why}")


@pytest.mark.parametrize(
    "answer",
    [
        response("200 OK", b"<html>"),
        response("404 Not Found", b"<html>"),
        response("404 Not Found", b"[]"),
        response("404 Not Found", b'{"message": "no"}'),
        response("302 Found", b"", "Location: http://elsewhere/"),
        response("500 Oops", b"\xff\xfe"),
    ],
)
def test_another_server(answer: bytes) -> None:
    """The line says what answered, exit code 2."""
    with answering(answer) as (url, _), pytest.raises(CliError) as caught:
        AdminPort(url).get("/api/v1/clusters")
    assert f"{url}: is no admin port of kproxy: it answers " in str(caught.value)
    assert caught.value.code == 2


@pytest.mark.parametrize("answer", [b"", b"\x00\x00\x00\x15", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"])
def test_what_is_no_http(answer: bytes) -> None:
    """A Kafka port, a server that dies: one line, exit code 2."""
    with answering(answer) as (url, _), pytest.raises(CliError, match=r"cannot be asked: .+") as caught:
        AdminPort(url).get("/api/v1/clusters")
    assert caught.value.code == 2
    assert "\n" not in str(caught.value)


def test_a_name_without_an_address() -> None:
    """As DNS says it."""
    with pytest.raises(CliError, match=r"^http://no-such-host\.invalid:9190: cannot be asked: .+ \(--admin or"):
        AdminPort("http://no-such-host.invalid:9190").get("/")


@pytest.mark.parametrize("url", ["http://kproxy..svc:9190", "http://127.0.0.1:1/\u00e4"])
def test_what_cannot_be_encoded(url: str) -> None:
    """As after a template without its variable: one line, exit code 2."""
    with pytest.raises(CliError, match="cannot be asked: ") as caught:
        AdminPort(url).get("/x")
    assert caught.value.code == 2


def test_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told from a kproxy that cannot be reached: a command may still be carried out."""
    monkeypatch.setattr(admin_port, "_TIMEOUT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = AdminPort(f"http://127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(CliError, match=r"no answer in 0\.2 s$"):
            port.get("/x")
        with pytest.raises(CliError, match="the command may be carried out all the same: look at `kproxy clusters`"):
            port.post("/x", {})


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"clusters": [{"name": "orders"}]}', b'{"clusters": 5}'])
def test_an_answer_of_another_version(capsys: pytest.CaptureFixture[str], body: bytes) -> None:
    """An answer without the expected fields is one line, not a traceback."""
    with answering(response("200 OK", body)) as (url, _):
        code, out, err = printed(capsys, ["clusters", "--admin", url])
    assert (code, out) == (2, "")
    assert "does not understand the answer" in err
    assert err.count("\n") == 1
