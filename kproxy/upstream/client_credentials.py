# This module is pure (no I/O, no clock).
"""The client credentials grant (RFC 6749, 4.4): what kproxy asks a token endpoint, and what its answer means.

`TokenCache` asks when a connection of kproxy's own authenticates by OAUTHBEARER and no token is at hand.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote_plus, urlencode

from kproxy.observe.masking import Secrets

if TYPE_CHECKING:
    from kproxy.config.client_credentials import ClientCredentials

TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""A bearer token (RFC 6750, 2.1)."""
_ERROR: Final = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]{1,100}")  # RFC 6749, 5.2
_LONGEST_DESCRIPTION: Final = 200
_LONGEST_LIFETIME: Final = 7 * 86_400.0
"""Seconds after which a token is fetched anew, whatever its server says."""
_EARLIEST: Final = 0.75
_SPREAD: Final = 0.1
"""Tokens are renewed before 85 % of their lifetime: a broker's session, which is renewed then, gets the next one."""


class TokenError(Exception):
    """No token: the text says why, on one line and without secrets."""


class Token(NamedTuple):
    """An access token; `lifetime` is in seconds, 0 when the server does not say how long it lasts."""

    value: str
    lifetime: float

    def renewed_after(self, rand: float) -> float:
        """Return the seconds after which to fetch another one; `rand` is in [0, 1), so that many kproxies spread."""
        return self.lifetime * (_EARLIEST + _SPREAD * rand)


def token_request(settings: ClientCredentials, secret: str) -> tuple[bytes, Mapping[str, str]]:
    """Return body and headers of the request for a token."""
    form = {"grant_type": "client_credentials"}
    if settings.scope is not None:
        form["scope"] = settings.scope
    if settings.audience is not None:
        form["audience"] = settings.audience
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    if settings.client_authentication == "client_secret_post":
        form |= {"client_id": settings.client_id, "client_secret": secret}
    else:
        headers["Authorization"] = f"Basic {_basic(settings.client_id, secret)}"
    return urlencode(form).encode(), headers


def token_of(status: int, body: bytes, secret: str) -> Token:
    """Return the token of an answer (RFC 6749, 5.1). Raises TokenError, which shows neither token nor `secret`."""
    answer = _json_object(body)
    if status != 200:
        raise TokenError(_refusal(status, answer, secret))
    value = answer.get("access_token")
    if not isinstance(value, str) or not TOKEN.fullmatch(value):
        raise TokenError("its answer has no access_token; is this URL its token endpoint?")
    kind = answer.get("token_type", "Bearer")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise TokenError("its token_type is not Bearer; OAUTHBEARER takes no other")
    return Token(value, _lifetime(answer.get("expires_in")))


def _basic(client_id: str, secret: str) -> str:
    """Return the credentials of RFC 6749, 2.3.1: each form-encoded, since both may hold a colon."""
    return base64.b64encode(f"{quote_plus(client_id)}:{quote_plus(secret)}".encode()).decode()


def _json_object(body: bytes) -> Mapping[str, object]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _refusal(status: int, answer: Mapping[str, object], secret: str) -> str:
    code, said = answer.get("error"), answer.get("error_description")
    shown = f" {code}" if isinstance(code, str) and _ERROR.fullmatch(code) else ""
    if isinstance(said, str):
        shown += f" ({_one_line(said)})"
    hidden = Secrets([secret, quote_plus(secret)]).hide(shown)
    return f"it answers {status}{hidden}; {_hint(status)}"


def _hint(status: int) -> str:
    if 300 <= status < 400:
        return "redirects are not followed: name the URL that it leads to"
    if status in (400, 401, 403):
        return "check client_id, the client's secret, scope and audience"
    return "check the URL and its log"


def _one_line(text: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in text[:_LONGEST_DESCRIPTION])


def _lifetime(value: object) -> float:
    """Return the seconds of `expires_in`, which some servers write as text; 0 for what is no number."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value[:10])
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return 0.0
    return float(min(value, _LONGEST_LIFETIME))
