# This module is pure (no I/O, no clock).
"""Every error code of Kafka, explained: class, meaning, what a client does, what a person should do.

`kproxy errors` prints it, and `reference` writes docs/errors.md from it.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from kproxy.errors import ErrorClass
from kproxy.explained import brokers, groups, partitions, records, requests, security, share_and_streams, transactions
from kproxy.explained.classes import client_does
from kproxy.explained.text import Text
from kproxy.wire.apis import APIS
from kproxy.wire.error_codes import ERROR_CODES, classify, error_name
from kproxy.wire.generated.error_codes import ErrorCode

MODULES: Final = (requests, records, partitions, groups, transactions, share_and_streams, security, brokers)
TEXTS: Final[Mapping[ErrorCode, Text]] = MappingProxyType(ChainMap(*(dict(module.TEXTS) for module in MODULES)))
_UNKNOWN: Final = Text(
    "This kproxy does not know the code: it is newer, or none of Kafka's.",
    "Look it up in the documentation of the broker's version.",
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """One error code, in the answer of one API where an API was named."""

    code: int
    name: str
    """Kafka's name; the number of an unknown code."""
    known: bool
    error_class: ErrorClass | None
    """None for 0, which is no error."""
    of_apis: Mapping[str, ErrorClass]
    """The APIs in whose answers the class is another one; empty where an API was named."""
    retriable: bool
    """Whether Java's exception is a `RetriableException`."""
    text: Text

    @property
    def client(self) -> str:
        """What a client library does about it."""
        if self.error_class is None:
            return self.text.client
        does = client_does(self.code, self.error_class)
        return f"{does} {self.text.client}" if self.text.client else does

    @property
    def classes(self) -> str:
        """The class in words, with the APIs in whose answers it is another one; a dash for no error."""
        if self.error_class is None:
            return "–"
        return self.error_class.value + "".join(f"; {other.value} from {api}" for api, other in self.of_apis.items())

    def is_of(self, error_class: ErrorClass) -> bool:
        """Tell whether it is of the class, in the answer of any API."""
        return error_class is self.error_class or error_class in self.of_apis.values()


def explain(code: int, api_key: int | None = None) -> Explanation:
    """Return what there is to say about a code, in the answer of an API; also about one that nobody knows."""
    error = ERROR_CODES.get(code)
    of_all = classify(code)
    others = {} if api_key is not None else {api.name: classify(code, api.key) for api in APIS.values()}
    return Explanation(
        code,
        error_name(code),
        error is not None,
        None if error is ErrorCode.NONE else classify(code, api_key),
        {name: found for name, found in others.items() if found is not of_all},
        error is not None and error.retriable,
        _UNKNOWN if error is None else TEXTS[error],
    )


def explained(error_class: ErrorClass | None = None) -> Iterator[Explanation]:
    """Yield all known codes, or those of a class, by their numbers."""
    for error in ErrorCode:
        found = explain(error)
        if error_class is None or found.is_of(error_class):
            yield found
