"""Asks the API server of the Kubernetes cluster in which kproxy runs, as the service account of its pod.

`kproxy.agreement.config_map` uses it. Kubernetes sets KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT in each
container, and puts token, authority and namespace into files. It replaces the token before it expires, so the files are
read for each request. KUBERNETES_SERVICE_ACCOUNT_DIR names another directory where they are mounted elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import trio

from kproxy.config.url import Url
from kproxy.errors import ConfigError, UpstreamError, bare_reason
from kproxy.upstream.http import Answer, HttpClient, HttpError, client_of

_DIRECTORY: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_HOST: Final = "kubernetes.default.svc"
_PORT: Final = 443
_TIMEOUT: Final = 5.0
"""Seconds to connect, and again for an answer."""
_LARGEST_ANSWER: Final = 4 << 20
"""Bytes; an object has 1.5 MiB at most, which JSON within JSON makes longer."""


class NoAnswerError(UpstreamError):
    """The API server does not answer, or a stream of its broke."""


class ServiceAccount(NamedTuple):
    """What the files say; the authority is the file itself."""

    token: str
    namespace: str
    authority: str


class ApiServer:
    """Each request is one connection, with the files as they are then. Paths may have a `{namespace}`."""

    def __init__(self, variables: Mapping[str, str] = os.environ) -> None:
        self.directory = Path(variables.get("KUBERNETES_SERVICE_ACCOUNT_DIR") or _DIRECTORY)
        self._host = variables.get("KUBERNETES_SERVICE_HOST") or _HOST
        port = variables.get("KUBERNETES_SERVICE_PORT", "")
        self._port = int(port) if port.isdecimal() else _PORT

    def check(self, key: str) -> None:
        """Raise `ConfigError` for the setting `key` where kproxy has no service account."""
        try:
            self._read()
        except (OSError, ValueError) as error:
            raise ConfigError(
                key,
                f"needs a pod of Kubernetes with the token of its service account, and {self._unread(error)}: give "
                "the pod automountServiceAccountToken: true, or use failover.control_topic",
            ) from error

    async def get(self, path: str) -> Answer:
        """Return the answer to a GET, whatever its status; raise NoAnswerError, or UpstreamError for the files."""
        return await self._ask(path, lambda client, headers: client.get(headers))

    async def patch(self, path: str, body: bytes, kind: str) -> Answer:
        """As `get`, for a PATCH of this content type."""
        return await self._ask(path, lambda client, headers: client.patch(body, headers | {"Content-Type": kind}))

    async def stream(self, path: str, take: Callable[[bytes], None], seconds: float) -> Answer:
        """As `get`, and hand an answer with status 200 to `take` as it comes, for these `seconds` at most."""
        return await self._ask(path, lambda client, headers: client.stream(headers, take, seconds))

    async def _ask(self, path: str, call: Callable[[HttpClient, dict[str, str]], Awaitable[Answer]]) -> Answer:
        try:
            account = await trio.to_thread.run_sync(self._read)
        except (OSError, ValueError) as error:
            raise UpstreamError(f"{self._unread(error)}: look at the pod's service account") from error
        url = Url(True, self._host, self._port, path.format(namespace=account.namespace))
        headers = {"Authorization": f"Bearer {account.token}", "Accept": "application/json"}
        try:
            async with client_of(url, account.authority, "service account", _LARGEST_ANSWER, _TIMEOUT) as client:
                answer = await call(client, headers)
        except HttpError as error:
            raise NoAnswerError(str(error)) from error
        except ConfigError as error:
            raise UpstreamError(str(error)) from error
        if not answer.whole:
            raise UpstreamError(f"{url.where}: its answer has more than {_LARGEST_ANSWER >> 20} MiB")
        return answer

    def _read(self) -> ServiceAccount:
        """Read the files; raise OSError, or ValueError for what is no text or empty."""
        authority = self.directory / "ca.crt"
        authority.stat()
        return ServiceAccount(self._text("token"), self._text("namespace"), str(authority))

    def _text(self, name: str) -> str:
        text = (self.directory / name).read_text().strip()
        if not text:
            raise ValueError(f"{name} is empty")
        return text

    def _unread(self, error: OSError | ValueError) -> str:
        where = error.filename if isinstance(error, OSError) and error.filename else self.directory
        return f"{where} cannot be read ({bare_reason(error)})"
