"""Asks a running kproxy at its admin port: one request, its JSON, or a line that says why not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import click

from kproxy import __version__
from kproxy.cli.output import REFUSED, USAGE, CliError

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse


VARIABLE: Final = "KPROXY_ADMIN_URL"
_TIMEOUT: Final = 60.0
"""Seconds: a failover waits until its target has answered, or has not in the time that kproxy gives it."""


class AdminPort:
    """The admin port at `url`: http://host:port, or https:// and a path where something stands before it."""

    def __init__(self, url: str) -> None:
        """Raises `CliError` for what is no such URL."""
        from urllib.parse import urlsplit

        self.url = url
        try:
            parts = urlsplit(url)
            self._port = parts.port
        except ValueError:
            raise self._no_url() from None
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise self._no_url()
        self._secure, self._host, self._path = parts.scheme == "https", parts.hostname, parts.path.rstrip("/")

    def get(self, path: str, **query: str | None) -> Any:
        """What a path says; of `query` only what is given. Raises `CliError`."""
        from urllib.parse import urlencode

        given = {name: value for name, value in query.items() if value is not None}
        return self._ask("GET", path + ("?" + urlencode(given) if given else ""), None)

    def post(self, path: str, fields: Mapping[str, Any]) -> Any:
        """Gives an order; what it did. Raises `CliError`, with exit code 1 when the proxy refuses."""
        return self._ask("POST", path, json.dumps(fields).encode())

    def put(self, path: str, fields: Mapping[str, Any]) -> Any:
        """Makes or replaces what is at the path; what there is now. Raises `CliError` as `post` does."""
        return self._ask("PUT", path, json.dumps(fields).encode())

    def delete(self, path: str) -> Any:
        """Forgets what is at the path. Raises `CliError` as `post` does."""
        return self._ask("DELETE", path, None)

    def _ask(self, method: str, target: str, body: bytes | None) -> Any:
        from http.client import HTTPException

        connection = self._connection()
        try:
            headers = {"Accept": "application/json"} | ({"Content-Type": "application/json"} if body else {})
            connection.request(method, self._path + target, body, headers)
            response = connection.getresponse()
            content = response.read()
        except (OSError, HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise CliError(f"{self.url}: cannot be asked: {reason} (--admin or {VARIABLE})", USAGE) from error
        finally:
            connection.close()
        return self._understood(response, content)

    def _connection(self) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection

        return (HTTPSConnection if self._secure else HTTPConnection)(self._host, self._port, timeout=_TIMEOUT)

    def _understood(self, response: HTTPResponse, content: bytes) -> Any:
        try:
            said = json.loads(content)
            if response.status < 400:
                return said
            reason = str(said["error"])
        except (ValueError, TypeError, KeyError):
            line = f"{self.url}: is no admin port of kproxy: it answers {response.status} {response.reason}"
            raise CliError(f"{line} (--admin or {VARIABLE})", USAGE) from None
        wait = response.headers.get("Retry-After")
        raise CliError(reason + (f" (again in {wait} s)" if wait else ""), REFUSED)

    def _no_url(self) -> CliError:
        return CliError(
            f"{self.url!r} is no URL of an admin port; write http://host:port (--admin or {VARIABLE})", USAGE
        )


_DEFAULT: Final = "http://127.0.0.1:9190"
_PAGE: Final = "1000"


def remote(command: Callable[..., int]) -> Callable[..., int]:
    """The flags of all of them; the command gets `admin`, the URL, and `as_json`."""

    @wraps(command)
    def understood(admin: str, **options: Any) -> int:
        try:
            return command(admin=admin, **options)
        except (KeyError, TypeError) as error:
            line = f"{admin}: kproxy {__version__} does not understand the answer ({error!r}): another version?"
            raise CliError(line, USAGE) from error

    options = (
        click.option("--admin", default=_DEFAULT, envvar=VARIABLE, help=f"URL of the admin port. [{VARIABLE}]"),
        click.option("--json", "as_json", is_flag=True, help="Print what the API answers."),
    )
    for option in reversed(options):
        understood = option(understood)
    return understood


def of_cluster(name: str, *below: str) -> str:
    """The path of what is below a virtual cluster."""
    from urllib.parse import quote

    return "/".join(["/api/v1/clusters", *(quote(part, safe="") for part in (name, *below))])


def pages(port: AdminPort, path: str, key: str, **query: str | None) -> Iterator[dict[str, Any]]:
    """What all pages hold under `key`; asked for when it is needed."""
    after = None
    while True:
        page = port.get(path, **query, limit=_PAGE, after=after)
        yield from page[key]
        after = page["next"]
        if after is None:
            return


def print_json(said: Any) -> int:
    """On one line, for scripts; exit code 0."""
    click.echo(json.dumps(said))
    return 0


def software(client: dict[str, Any]) -> str:
    """Name and version, as far as they are known."""
    return " ".join(filter(None, (client["software_name"], client["software_version"])))
