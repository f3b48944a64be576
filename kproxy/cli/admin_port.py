"""The client of a running kproxy's admin port, and the flags and output that its commands share.

The commands in `kproxy.cli.groups`, `kproxy.cli.remote` and `kproxy.cli.telemetry` make an `AdminPort` each time that
they run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from kproxy import __version__
from kproxy.cli.admin_tls import (
    CA_VARIABLE,
    CERTIFICATE_VARIABLE,
    KEY_VARIABLE,
    SERVER_NAME_VARIABLE,
    AdminTls,
    raise_alert,
    tls_reason,
)
from kproxy.cli.output import REFUSED, USAGE, CliError
from kproxy.observe.masking import mask_url

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse


VARIABLE: Final = "KPROXY_ADMIN_URL"
TOKEN_VARIABLE: Final = "KPROXY_ADMIN_TOKEN_FILE"
_TLS_FLAGS: Final = (
    ("--ca", "FILE", CA_VARIABLE, "With https: authorities to trust; without it the system's."),
    ("--certificate", "FILE", CERTIFICATE_VARIABLE, "With https: the certificate to show, with its chain."),
    ("--key", "FILE", KEY_VARIABLE, "Its private key, if it is in a file of its own."),
    ("--server-name", "NAME", SERVER_NAME_VARIABLE, "With https: the name that kproxy's certificate must have."),
)
_DEFAULT_URL: Final = "http://127.0.0.1:9190"
_PAGE_SIZE: Final = "1000"
_TIMEOUT_SECONDS: Final = 60.0
"""A failover waits until its target answers, or until kproxy gives up on it."""


class AdminPort:
    """The admin port at `url`: http://host:port or https://host:port, with a path when a gateway is in front of it."""

    def __init__(self, url: str, token_file: str | None = None, tls: AdminTls | None = None) -> None:
        """Raises `CliError` for any other URL, and for a file without a token."""
        from urllib.parse import urlsplit

        self.url = mask_url(url)  # for errors only
        try:
            parts = urlsplit(url)
            self._port = parts.port
        except ValueError:
            raise self._invalid_url() from None
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise self._invalid_url()
        self._host, self._path = parts.hostname, parts.path.rstrip("/")
        self._tls = (tls or AdminTls()) if parts.scheme == "https" else None
        self._authorization = {} if token_file is None else {"Authorization": f"Bearer {_token(token_file)}"}

    def get(self, path: str, **query: str | None) -> Any:
        """Read a path and return its JSON; parameters that are None are left out. Raises `CliError`."""
        from urllib.parse import urlencode

        given = {name: value for name, value in query.items() if value is not None}
        return self._request("GET", path + ("?" + urlencode(given) if given else ""), None)

    def post(self, path: str, fields: Mapping[str, Any]) -> Any:
        """Send a command and return its result. Raises `CliError`, with exit code 1 when the proxy refuses."""
        return self._request("POST", path, json.dumps(fields).encode())

    def put(self, path: str, fields: Mapping[str, Any]) -> Any:
        """Make or replace the resource at the path and return it. Raises `CliError` as `post` does."""
        return self._request("PUT", path, json.dumps(fields).encode())

    def delete(self, path: str) -> Any:
        """Delete the resource at the path. Raises `CliError` as `post` does."""
        return self._request("DELETE", path, None)

    def _request(self, method: str, target: str, body: bytes | None) -> Any:
        from http.client import HTTPException

        connection, sent = self._connection(), False
        try:
            secured = None
            if self._tls is not None:
                connection.sock = secured = self._tls.connect(self._host, connection.port, _TIMEOUT_SECONDS)
            headers = {"Accept": "application/json"} | ({"Content-Type": "application/json"} if body else {})
            if method != "GET":  # the token is for commands; what need not be sent cannot be read on the way
                headers |= self._authorization
            try:
                connection.request(method, self._path + target, body, headers)
            except OSError:
                if secured is not None:
                    raise_alert(secured)
                raise
            sent = True
            response = connection.getresponse()
            content = response.read()
        except TimeoutError as error:
            if not sent:
                raise self._unreachable("no connection in time") from error
            line = f"{self.url}: no answer in {_TIMEOUT_SECONDS:g} s"
            hint = "" if method == "GET" else "; the command may be carried out all the same: look at `kproxy clusters`"
            raise CliError(line + hint, USAGE) from error
        except (OSError, HTTPException, ValueError) as error:  # of a name or path that cannot be encoded
            reason = tls_reason(error) or getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise self._unreachable(reason) from error
        finally:
            connection.close()
        return self._parsed(response, content)

    def _unreachable(self, reason: str) -> CliError:
        return CliError(f"{self.url}: cannot be asked: {reason} (--admin or {VARIABLE})", USAGE)

    def _connection(self) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection

        kind = HTTPConnection if self._tls is None else HTTPSConnection
        return kind(self._host, self._port, timeout=_TIMEOUT_SECONDS)

    def _parsed(self, response: HTTPResponse, content: bytes) -> Any:
        try:
            answer = json.loads(content)
            if response.status < 400:
                return answer
            reason = str(answer["error"])
        except (ValueError, TypeError, KeyError):
            line = f"{self.url}: is no admin port of kproxy: it answers {response.status} {response.reason}"
            raise CliError(f"{line} (--admin or {VARIABLE})", USAGE) from None
        wait = response.headers.get("Retry-After")
        raise CliError(reason + (f" (again in {wait} s)" if wait else ""), REFUSED)

    def _invalid_url(self) -> CliError:
        return CliError(
            f"{self.url!r} is no URL of an admin port; write http://host:port (--admin or {VARIABLE})", USAGE
        )


def _token(file: str) -> str:
    try:
        token = Path(file).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"{file}: {getattr(error, 'strerror', None) or error} (--token-file)", USAGE) from error
    if not token.isascii() or not token.isprintable() or not token:
        raise CliError(f"{file}: has no token in it: printable ASCII on one line (--token-file)", USAGE)
    return token


def admin_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the flags of the admin port and `--json`: it gets `admin`, and `as_json`.

    An answer of another shape than expected ends the command with one line instead of a traceback.
    """

    @wraps(command)
    def checked(
        admin: str,
        token_file: str | None,
        ca: str | None,
        certificate: str | None,
        key: str | None,
        server_name: str | None,
        **options: Any,
    ) -> int:
        tls = AdminTls(ca, certificate, key, server_name)
        try:
            return command(admin=AdminPort(admin, token_file, tls), **options)
        except (KeyError, TypeError) as error:
            line = (
                f"{mask_url(admin)}: kproxy {__version__} does not understand the answer ({error!r}): another version?"
            )
            raise CliError(line, USAGE) from error

    options = (
        click.option("--admin", default=_DEFAULT_URL, envvar=VARIABLE, help=f"URL of the admin port. [{VARIABLE}]"),
        click.option(
            "--token-file",
            metavar="FILE",
            envvar=TOKEN_VARIABLE,
            help=f"File of the token that commands must bear. [{TOKEN_VARIABLE}]",
        ),
        *(
            click.option(flag, metavar=metavar, envvar=variable, help=f"{what} [{variable}]")
            for flag, metavar, variable, what in _TLS_FLAGS
        ),
        click.option("--json", "as_json", is_flag=True, help="Print what the API answers."),
    )
    for option in reversed(options):
        checked = option(checked)
    return checked


def cluster_path(name: str, *below: str) -> str:
    """The path of a virtual cluster, or of a resource below it."""
    from urllib.parse import quote

    return "/".join(["/api/v1/clusters", *(quote(part, safe="") for part in (name, *below))])


def clusters_with(port: AdminPort, flag: str, wanted: str | None) -> Sequence[str]:
    """The virtual cluster that is wanted; otherwise all with the flag, as the admin API says."""
    if wanted is not None:
        return [wanted]
    return [cluster["name"] for cluster in port.get("/api/v1/clusters")["clusters"] if cluster[flag]]


def pages(port: AdminPort, path: str, key: str, **query: str | None) -> Iterator[dict[str, Any]]:
    """The items under `key` of all pages; each page is read when its first item is needed."""
    after = None
    while True:
        page = port.get(path, **query, limit=_PAGE_SIZE, after=after)
        yield from page[key]
        after = page["next"]
        if after is None:
            return


def print_json(answer: Any) -> int:
    """Print the answer on one line, for scripts; returns exit code 0."""
    click.echo(json.dumps(answer))
    return 0


def software(client: dict[str, Any]) -> str:
    """Name and version of the client's software, as far as they are known."""
    return " ".join(filter(None, (client["software_name"], client["software_version"])))
