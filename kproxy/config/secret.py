"""Types of settings that are secret, or have secrets in them, and all secrets of a configuration.

They are validated whenever a configuration is loaded: when kproxy starts, and at each SIGHUP. `run` and a reload tell
the log what `secrets_of` yields, and it shows none of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import unquote

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, SecretStr

from kproxy.config.base import checked_text
from kproxy.observe.masking import HIDDEN, mask_url, mask_urls

if TYPE_CHECKING:
    from pydantic import BaseModel

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_FIELD: Final = re.compile(r"[\x20-\x7e\t]*")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_CREDENTIALS: Final = re.compile(r"[^\s'\"/@]+:[^\s'\"]*@")


def _header_names(headers: Any) -> Any:
    """Refuse what is no header's name without showing it: it may be a whole header."""
    if isinstance(headers, Mapping):
        for number, name in enumerate(headers, 1):
            if not isinstance(name, str) or not _TOKEN.fullmatch(name):
                raise ValueError(f"name {number} is no header's name; write `Name: value`, without blanks in the name")
    return headers


def _header_value(value: Any) -> Any:
    """Strip the value, for files end with a newline; refuse one that no header can have, without showing it."""
    text = _revealed(value).strip()
    if not _FIELD.fullmatch(text):
        raise ValueError("must be one line of printable ASCII (its value is not shown here)")
    return text


def _revealed(value: Any) -> str:
    return checked_text(value.get_secret_value() if isinstance(value, SecretStr) else value)


HeaderValue = Annotated[SecretStr, BeforeValidator(_header_value, json_schema_input_type=str)]
Headers = Annotated[
    Mapping[str, HeaderValue], BeforeValidator(_header_names, json_schema_input_type=dict[str, HeaderValue])
]


def _url(value: Any) -> Any:
    if not isinstance(value, str) or not value:
        raise ValueError("must be text, and not empty (its value is not shown here)")
    return value


SecretUrl = Annotated[
    str,
    BeforeValidator(_url, json_schema_input_type=str),
    PlainSerializer(mask_url, return_type=str, when_used="json"),
    Field(repr=False),
]
"""A URL whose user, password and query may be secret: they are shown as `**********`."""


def _check_line(line: str) -> str:
    if not line or _CONTROL.search(line):
        raise ValueError("must not be empty, and must have no control characters")
    return line


def _password(value: Any) -> Any:
    """Refuse a password that cannot be sent, without showing it."""
    text = _revealed(value).removesuffix("\n")  # as Secrets of Kubernetes may end
    if not text or _CONTROL.search(text):
        raise ValueError("must be one line, and not empty (its value is not shown here)")
    return text


Line = Annotated[str, AfterValidator(_check_line)]
"""One line of text: a user, a file, a client id."""
Password = Annotated[SecretStr, BeforeValidator(_password, json_schema_input_type=str)]
"""A password of one line; pydantic shows it as `**********`."""


def hidden_options(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the options of a plug-in without their values: nobody knows which of them are secret."""
    return dict.fromkeys(options, HIDDEN)


def masked_reason(reason: str) -> str:
    """Return why a setting is refused, without user and password of addresses, and without queries."""
    return _CREDENTIALS.sub(f"{HIDDEN}@", mask_urls(reason)) if "@" in reason else mask_urls(reason)


def secrets_of(groups: Iterable[BaseModel]) -> Iterator[str]:
    """Yield every value that nothing may show, of receivers and identities: no other settings have secrets."""
    for group in groups:
        for value in getattr(group, "headers", {}).values():
            yield value.get_secret_value()
            yield value.get_secret_value().rpartition(" ")[2]  # the token behind `Bearer`
        yield from _in_url(getattr(group, "url", ""))
        yield from _texts(getattr(group, "options", None))
        for name in ("password", "client_secret"):
            if (secret := getattr(group, name, None)) is not None:
                yield secret.get_secret_value()


def _in_url(url: str) -> Iterator[str]:
    before, _, _ = url.partition("://")[2].rpartition("@")
    password = before.partition(":")[2]
    query = url.partition("?")[2].partition("#")[0]
    for value in (password, *(parameter.partition("=")[2] or parameter for parameter in query.split("&"))):
        yield value
        yield unquote(value)


def _texts(options: Any) -> Iterator[str]:
    if isinstance(options, str):
        yield options
    elif isinstance(options, Mapping):
        for value in options.values():
            yield from _texts(value)
    elif isinstance(options, list | tuple):
        for value in options:
            yield from _texts(value)
