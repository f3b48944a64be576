"""A real admin port over TLS in a thread of its own, for tests of what asks it from outside of Trio."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Self

import trio

from kproxy.admin.commanders import Commanders
from kproxy.admin.security import AdminSecurity, read_admin_security
from kproxy.admin.server import serve_admin
from kproxy.config.process import Admin
from tests.support.authority import Authority, Certificate
from tests.unit.admin.memory_view import MemoryView


class Serving:
    """`security` is what new connections are shown, None for plaintext; inside the block it serves."""

    def __init__(self, security: AdminSecurity | None = None) -> None:
        self.security = security
        self.port = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=trio.run, args=[self._serve])

    async def _serve(self) -> None:
        self._done, self._token = trio.Event(), trio.lowlevel.current_trio_token()
        async with trio.open_nursery() as nursery:
            security = lambda: self.security  # noqa: E731

            async def serve(*, task_status: trio.TaskStatus[tuple[str, int]] = trio.TASK_STATUS_IGNORED) -> None:
                commanders = Commanders(security=security)
                await serve_admin(
                    MemoryView(), "127.0.0.1", 0, commanders=commanders, security=security, task_status=task_status
                )

            _, self.port = await nursery.start(serve)
            self._ready.set()
            await self._done.wait()
            nursery.cancel_scope.cancel()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._token.run_sync_soon(self._done.set)
        self._thread.join(10)


def secured(authority: Authority, own: Certificate, *, demands: bool = False) -> AdminSecurity | None:
    """What an admin port reads from files that also say whose clients give commands."""
    tls: dict[str, Any] = {"certificate": str(own.chain), "key": str(own.key), "client_ca": str(authority.file)}
    tls |= {"require_client_certificate": True} if demands else {}
    return read_admin_security(Admin.model_validate({"listen": "127.0.0.1:0", "tls": tls}))
