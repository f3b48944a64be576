"""Checks who gives a command at the admin port, and reports each command.

`serve_admin` makes one `Commanders` from the settings; every `Connection` asks it.
"""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Final

import trio

from kproxy.admin.authorization import check_commander
from kproxy.admin.message import HttpError, Request
from kproxy.admin.security import Security
from kproxy.admin.stream import Client
from kproxy.admin.view import View
from kproxy.config.address import is_loopback
from kproxy.errors import ConfigError
from kproxy.observe.events import MAX_TEXT, OperatorCommand
from kproxy.observe.report_rate import ReportRate

_LARGEST_TOKEN: Final = 4096
REPORTED: Final = 10
"""Refusals that are reported in a second."""
_DELAY: Final = 0.5
"""Seconds before a wrong token is refused: guesses take long."""

_STALE: Final = "kproxy has read the files of `admin.tls` again since this connection began: connect again"


class Commanders:
    """Who may give commands at an admin port."""

    def __init__(
        self, token_file: str | None = None, *, anyone: bool = False, security: Security = lambda: None
    ) -> None:
        """Raises `ConfigError` where the token cannot be read; it is read anew for each command."""
        self._token_file = token_file
        self._anyone = anyone
        self._security = security
        self._rate = ReportRate(REPORTED)
        self._token()

    async def check(self, request: Request, client: Client, view: View) -> None:
        """Raise `HttpError` where a client may not give a command, and report that."""
        try:
            await self._check(request, client)
        except HttpError as error:
            if self._rate.allows(trio.current_time()):  # whoever tries tokens could fill the stream otherwise
                self.report(request, client, view, error.status, str(error))
            raise

    def report(
        self, request: Request, client: Client, view: View, status: HTTPStatus, refused: str | None = None
    ) -> None:
        """Report a command, and how it was answered; `refused` is why the client may not give it."""
        command = f"{request.method} {request.path}"[:MAX_TEXT]
        names = None if client.names is None else ", ".join(sorted(client.names))[:MAX_TEXT]
        left_out = 0 if refused is None else self._rate.left_out
        event = OperatorCommand(command, client.address, int(status), refused, names, left_out)
        view.report(request.segments.get("cluster"), event)

    async def _check(self, request: Request, client: Client) -> None:
        try:
            token = await trio.to_thread.run_sync(self._token)
        except ConfigError as error:
            raise HttpError(HTTPStatus.INTERNAL_SERVER_ERROR, f"no command is taken: {error}") from error
        try:
            self._check_client(request, token, client)
        except HttpError:
            await trio.sleep(_DELAY)
            raise

    def _check_client(self, request: Request, token: str | None, client: Client) -> None:
        security, local = self._security(), is_loopback(client.address)
        is_stale = client.names is not None and client.security is not security
        wanted, names = None if security is None else security.commanders, None if is_stale else client.names
        try:
            check_commander(request, token, local=local, anyone=self._anyone, wanted=wanted, names=names)
        except HttpError as error:
            if is_stale:
                raise HttpError(HTTPStatus.SERVICE_UNAVAILABLE, _STALE, {"Connection": "close"}) from error
            raise

    def _token(self) -> str | None:
        if self._token_file is None:
            return None
        try:
            with Path(self._token_file).open() as file:
                token = file.read(_LARGEST_TOKEN + 1).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError("admin.token_file", f"{self._token_file}: {error}") from error
        if not token or len(token) > _LARGEST_TOKEN:
            why = "is empty" if not token else f"has more than {_LARGEST_TOKEN} characters"
            raise ConfigError("admin.token_file", f"{self._token_file}: {why}")
        return token
