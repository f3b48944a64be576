# This module is pure (no I/O, no clock).
"""Who may give commands at the admin port: whoever bears the token or, without one, clients on the same machine.

`Connection` asks for each request that changes something. Pages and probes are for everybody who reaches the port.
"""

from __future__ import annotations

import hmac
from http import HTTPStatus
from typing import Final

from kproxy.admin.message import HttpError, Request

_SCHEME: Final = "bearer "
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="kproxy"'}


def check_commander(request: Request, token: str | None, *, local: bool, anyone: bool) -> None:
    """Raise `HttpError` 401 or 403 for a client that may not give commands.

    `token` is what a client must bear, None where there is none. `local`: the client is on this machine. `anyone`: so
    is everybody treated, without a token.
    """
    if token is not None:
        _check_token(request, token)
    elif not (local or anyone):
        remedy = "set `admin.token_file`, or give the command on kproxy's own machine (kubectl exec, docker exec)"
        raise HttpError(HTTPStatus.FORBIDDEN, f"commands from another machine need a token; {remedy}")


def _check_token(request: Request, token: str) -> None:
    said = request.headers.get("authorization", "")
    if not said.lower().startswith(_SCHEME):
        reason = "a command needs the token of `admin.token_file`: `--token-file FILE`, or Authorization: Bearer TOKEN"
        raise HttpError(HTTPStatus.UNAUTHORIZED, reason, _CHALLENGE)
    # latin-1: as the header was read; in constant time, whatever was sent
    if not hmac.compare_digest(said[len(_SCHEME) :].strip().encode("latin-1"), token.encode()):
        raise HttpError(HTTPStatus.UNAUTHORIZED, "the token is not that of `admin.token_file`", _CHALLENGE)
