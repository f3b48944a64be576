# This module is pure (no I/O, no clock).
"""Clients' OAUTHBEARER: the message (RFC 7628, as Kafka's clients send it), and whether its token is accepted.

`TokenVerifier` calls `token_in` and `check_token` for each client that authenticates by OAUTHBEARER.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from kproxy.authentication.key_set import KeySet, verifies

if TYPE_CHECKING:
    from kproxy.config.oauthbearer import OAuthBearer

MAX_MESSAGE: Final = 64 * 2**10
"""Bytes of a client's message. Tokens with many groups have some 10 KiB."""
ACKNOWLEDGED: Final = b"\x01"
"""What a client sends after it was refused (RFC 7628, 3.2.3): only then is its authentication over."""
_MESSAGE: Final = re.compile(
    rb"n,(?:a=(?P<authzid>(?:[\x21-\x2b\x2d-\x3c\x3e-\x7e\x80-\xff]|=2C|=3D)+))?,\x01"
    rb"(?P<pairs>(?:[A-Za-z]+=[\x20-\x7e\t\r\n]*\x01)+)\x01"
)
_BEARER: Final = re.compile(r"(?i:bearer) +([A-Za-z0-9._~+/-]+=*)[ \t\r\n]*")
_COMPACT: Final = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)")
_MOST_TRIED: Final = 8
"""Keys that one token is checked with: there is more than one where an issuer's keys share an id."""
_LONGEST_NAME: Final = 255
_SHOWN: Final = 60


class TokenRefusedError(Exception):
    """A client is refused: the text says why, for the log, on one line and without the token; `answer` is for it."""

    def __init__(self, reason: str, answer: bytes = b'{"status":"invalid_token"}') -> None:
        super().__init__(reason)
        self.answer = answer
        """The JSON of RFC 7628, 3.2.2, which gives nothing away; the client answers `ACKNOWLEDGED`."""


class UnknownKeyError(TokenRefusedError):
    """A token that no key in the set has signed: there may be a new one."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """What a client's message has: the token, and whom the client wants to be ("" for whom the token names)."""

    token: str
    authorization_id: str


@dataclass(frozen=True, slots=True)
class Verified:
    """Who a client is by its token. `expires_at` is in seconds since the Unix epoch, without the skew of clocks."""

    principal: str
    expires_at: float
    claims: Mapping[str, Any]


def bearer_in(message: bytes) -> Bearer:
    """Return the token of a client's first message. Raises TokenRefusedError for what is no such message."""
    if len(message) > MAX_MESSAGE:
        raise TokenRefusedError(f"the message has more than {MAX_MESSAGE} bytes")
    found = _MESSAGE.fullmatch(message)
    if found is None:
        raise TokenRefusedError("the message is not OAUTHBEARER's (RFC 7628)")
    pairs = [pair.decode("ascii").partition("=") for pair in found["pairs"][:-1].split(b"\x01")]
    named = [value for name, _, value in pairs if name.lower() == "auth"]
    if len(named) != 1:
        raise TokenRefusedError(f"the message has {len(named)} times `auth`")
    token = _BEARER.fullmatch(named[0])
    if token is None:
        raise TokenRefusedError("the message's `auth` is no bearer token")
    return Bearer(token[1], _authorization_id(found["authzid"] or b""))


def _authorization_id(text: bytes) -> str:
    try:
        return text.decode().replace("=2C", ",").replace("=3D", "=")
    except UnicodeDecodeError:
        raise TokenRefusedError("the message's authorization id is not UTF-8") from None


def check_message(message: bytes, keys: KeySet, settings: OAuthBearer, now: float) -> Verified:
    """Return who the client is; `now` is in seconds since the Unix epoch. Raises TokenRefusedError."""
    bearer = bearer_in(message)
    verified = check_token(bearer.token, keys, settings, now)
    if bearer.authorization_id not in ("", verified.principal):
        wanted = _shown(bearer.authorization_id)
        raise TokenRefusedError(f"the client wants to be {wanted}, and its token is of {_shown(verified.principal)}")
    return verified


def check_token(token: str, keys: KeySet, settings: OAuthBearer, now: float) -> Verified:
    """Return whose token it is. Raises TokenRefusedError, and UnknownKeyError where other keys might help.

    Nothing that the token says is believed before its signature is checked, and its header only says which key and
    which of the accepted signatures to check it with.
    """
    found = _COMPACT.fullmatch(token) if len(token) <= MAX_MESSAGE else None
    if found is None:
        raise TokenRefusedError("the token is no signed JWT")
    header = _json_object(_decoded(found[1], "header"), "header")
    _check_signature(header, keys, settings, token.rpartition(".")[0].encode(), _decoded(found[3], "signature"))
    claims = _json_object(_decoded(found[2], "claims"), "claims")
    _check_parties(claims, settings)
    expires_at = _check_times(claims, settings.clock_skew, now)
    _check_required(claims, settings)
    return Verified(_principal(claims, settings.principal_claim), expires_at, MappingProxyType(claims))


def _decoded(segment: str, what: str) -> bytes:
    try:
        return base64.b64decode(segment + "=" * (-len(segment) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise TokenRefusedError(f"the token's {what} is not base64url") from None


def _json_object(text: bytes, what: str) -> dict[str, Any]:
    try:
        found = json.loads(text.decode(), object_pairs_hook=_once_each, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise TokenRefusedError(f"the token's {what} is no JSON, or has a name twice") from None
    if not isinstance(found, dict):
        raise TokenRefusedError(f"the token's {what} is no JSON object")
    return found


def _once_each(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse names that occur twice: who reads the first one and who reads the last one would see two tokens."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name twice")
    return found


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _check_signature(
    header: Mapping[str, Any], keys: KeySet, settings: OAuthBearer, signed: bytes, signature: bytes
) -> None:
    algorithm, key_id = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in settings.algorithms:
        raise TokenRefusedError(f"the token's signature is {_shown(algorithm)}, which is not accepted")
    if "crit" in header:
        raise TokenRefusedError("the token has extensions that must be understood (`crit`): kproxy knows none")
    if key_id is not None and not isinstance(key_id, str):
        raise TokenRefusedError("the token's `kid` is no text")
    fitting = keys.fitting(key_id, algorithm)
    if key_id is not None and not keys.knows(key_id):
        raise UnknownKeyError(f"the token is of the key {_shown(key_id)}, which is not among the issuer's keys")
    if key_id is None and len(fitting) > 1:
        raise TokenRefusedError("the token does not say which of the issuer's keys it is of")
    if not any(verifies(key, algorithm, signed, signature) for key in fitting[:_MOST_TRIED]):
        # An issuer whose keys have no ids, or keep them, may have another key by now.
        raise UnknownKeyError("the token's signature is wrong")


def _check_parties(claims: Mapping[str, Any], settings: OAuthBearer) -> None:
    if claims.get("iss") != settings.issuer:
        raise TokenRefusedError(f"the token's issuer is {_shown(claims.get('iss'))}")
    audience = claims.get("aud")
    if not any(each in settings.audience for each in _texts(audience)):
        raise TokenRefusedError(f"the token is for {_shown(audience)}")


def _check_times(claims: Mapping[str, Any], skew: float, now: float) -> float:
    """Return when the token ends."""
    ends, begins, issued = (_time(claims, name) for name in ("exp", "nbf", "iat"))
    if ends is None:
        raise TokenRefusedError("the token has no end (`exp`)")
    if now >= ends + skew:
        raise TokenRefusedError(f"the token ended {now - ends:.0f} s ago")
    if begins is not None and now < begins - skew:
        raise TokenRefusedError(f"the token begins only in {begins - now:.0f} s; look at the clocks")
    if issued is not None and now < issued - skew:
        raise TokenRefusedError(f"the token is issued only in {issued - now:.0f} s; look at the clocks")
    return ends


def _time(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**53 or not isfinite(value):
        raise TokenRefusedError(f"the token's `{name}` is no time")
    return float(value)


def _check_required(claims: Mapping[str, Any], settings: OAuthBearer) -> None:
    for name, value in settings.required_claims.items():
        if value not in _texts(claims.get(name)):
            raise TokenRefusedError(f"the token's claim {name} is {_shown(claims.get(name))}, not {value}")
    scopes = {word for name in ("scope", "scp") for text in _texts(claims.get(name)) for word in text.split(" ")}
    if missing := [scope for scope in settings.required_scopes if scope not in scopes]:
        answer = json.dumps({"status": "insufficient_scope", "scope": " ".join(settings.required_scopes)})
        raise TokenRefusedError(f"the token lacks the scopes {', '.join(missing)}", answer.encode())


def _texts(value: object) -> Sequence[str]:
    """Return a claim's text, or the texts of its list."""
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]


def _principal(claims: Mapping[str, Any], claim: str) -> str:
    name = claims.get(claim)
    if not isinstance(name, str) or not name:
        raise TokenRefusedError(f"the token's claim {claim}, which names the user, is {_shown(name)}")
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise TokenRefusedError(f"the token's claim {claim} is too long for a name, or has control characters")
    return name


def _shown(value: object) -> str:
    """Return what a token says, on one line that is not too long."""
    text = ascii(value) if isinstance(value, str | int | float | list | None) else f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
