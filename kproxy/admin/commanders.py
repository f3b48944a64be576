"""Checks who gives a command at the admin port, and reports each command.

`serve_admin` makes one `Commanders` from the settings; every `Connection` asks it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Final

import structlog
import trio

from kproxy.admin.authorization import check_commander
from kproxy.admin.message import HttpError, Request, Response
from kproxy.admin.view import View
from kproxy.config.identity import is_loopback
from kproxy.errors import ConfigError
from kproxy.observe.events import OperatorCommand

_LARGEST_TOKEN: Final = 4096
_DELAY: Final = 0.5
"""Seconds before a wrong token is refused: guesses take long."""

log = structlog.get_logger()


class Commanders:
    """Who may give commands at an admin port."""

    def __init__(self, token_file: str | None = None, *, anyone: bool = False) -> None:
        """Raises `ConfigError` where the token cannot be read; it is read anew for each command."""
        self._token_file = token_file
        self._anyone = anyone
        self._token()

    async def carry_out(
        self, act: Callable[[], Awaitable[Response]], request: Request, address: str, view: View
    ) -> Response:
        """Have a command carried out for a client at an address, if it may; raises `HttpError` if not. Report both."""
        try:
            await self._check(request, address)
        except HttpError as error:
            self._report(request, address, view, error.status, str(error))
            raise
        response = await act()
        self._report(request, address, view, response.status, None)
        return response

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

    def _report(self, request: Request, address: str, view: View, status: HTTPStatus, refused: str | None) -> None:
        command = OperatorCommand(f"{request.method} {request.path}", address, int(status), refused)
        view.report(request.segments.get("cluster"), command)
