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
from kproxy.admin.view import View
from kproxy.config.identity import is_loopback
from kproxy.errors import ConfigError
from kproxy.observe.events import MAX_TEXT, OperatorCommand

_LARGEST_TOKEN: Final = 4096
_DELAY: Final = 0.5
"""Seconds before a wrong token is refused: guesses take long."""


class Commanders:
    """Who may give commands at an admin port."""

    def __init__(self, token_file: str | None = None, *, anyone: bool = False) -> None:
        """Raises `ConfigError` where the token cannot be read; it is read anew for each command."""
        self._token_file = token_file
        self._anyone = anyone
        self._token()

    async def check(self, request: Request, address: str, view: View) -> None:
        """Raise `HttpError` where a client at this address may not give a command, and report that."""
        try:
            await self._check(request, address)
        except HttpError as error:
            self.report(request, address, view, error.status, str(error))
            raise

    def report(
        self, request: Request, address: str, view: View, status: HTTPStatus, refused: str | None = None
    ) -> None:
        """Report a command, and how it was answered; `refused` is why the client may not give it."""
        command = f"{request.method} {request.path}"[:MAX_TEXT]
        view.report(request.segments.get("cluster"), OperatorCommand(command, address, int(status), refused))

    async def _check(self, request: Request, address: str) -> None:
        try:
            token = await trio.to_thread.run_sync(self._token)
        except ConfigError as error:
            raise HttpError(HTTPStatus.INTERNAL_SERVER_ERROR, f"no command is taken: {error}") from error
        try:
            check_commander(request, token, local=is_loopback(address), anyone=self._anyone)
        except HttpError:
            await trio.sleep(_DELAY)
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
