# This module is pure (no I/O, no clock).
"""Who may give commands at the admin port: whoever bears the token or has a certificate; else the same machine.

`Connection` asks for each request that changes something. Pages and probes are for everybody who reaches the port.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection
from http import HTTPStatus
from typing import Final

from kproxy.admin.message import HttpError, Request

_SCHEME: Final = "bearer "
_SHOWN: Final = 5
_SHOWN_CHARACTERS: Final = 200
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="kproxy"'}


def check_commander(
    request: Request,
    token: str | None,
    *,
    local: bool,
    anyone: bool,
    wanted: Collection[str] | None = None,
    names: Collection[str] | None = None,
) -> None:
    """Raise `HttpError` 401 or 403 for a client that may not give commands.

    `token` is what a client must bear, None where there is none. `wanted` are names, of which the client's certificate
    may have one instead: none for any certificate, None where no certificate counts. `names` are those of the client's
    verified certificate, None where it has none. `local`: the client is on this machine. `anyone`: so is everybody
    treated, without a token.
    """
    if wanted is not None and names is not None and (not wanted or not set(wanted).isdisjoint(names)):
        return
    if token is not None:
        _check_token(request, token, "" if wanted is None else ", or a certificate of `admin.tls.client_ca`")
    elif wanted is not None:
        raise HttpError(HTTPStatus.FORBIDDEN, _wrong_certificate(names))
    elif not (local or anyone):
        remedy = "or give the command on kproxy's own machine (kubectl exec, docker exec)"
        reason = f"commands from another machine need `admin.token_file` or `admin.tls.client_ca`: set one, {remedy}"
        raise HttpError(HTTPStatus.FORBIDDEN, reason)


def _wrong_certificate(names: Collection[str] | None) -> str:
    if names is None:
        return "a command needs a certificate of `admin.tls.client_ca`: `--certificate FILE --key FILE`"
    shown = (", ".join(sorted(names)[:_SHOWN]) or "no name")[:_SHOWN_CHARACTERS]
    return f"the certificate of {shown} may give no commands: `admin.tls.client_names` has none of its names"


def _check_token(request: Request, token: str, instead: str) -> None:
    said = request.headers.get("authorization", "")
    if not said.lower().startswith(_SCHEME):
        how = "`--token-file FILE`, or Authorization: Bearer TOKEN"
        reason = f"a command needs the token of `admin.token_file` ({how}){instead}"
        raise HttpError(HTTPStatus.UNAUTHORIZED, reason, _CHALLENGE)
    # latin-1: as the header was read; in constant time, whatever was sent
    if not hmac.compare_digest(said[len(_SCHEME) :].strip().encode("latin-1"), token.encode()):
        raise HttpError(HTTPStatus.UNAUTHORIZED, "the token is not that of `admin.token_file`", _CHALLENGE)
