# This module is pure (no I/O, no clock).
"""Who a client is by its verified certificate (mTLS): rules make a principal of its subject.

The acceptor asks `Authenticator`, which has the rules, once a client's TLS handshake is done.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kproxy.authentication.exchange import AuthenticationRefusedError
from kproxy.config.patterns import compiled

if TYPE_CHECKING:
    from kproxy.config.authentication import CertificateRule

_GROUP: Final = re.compile(r"\$([0-9])")
_LONGEST: Final = 255


class CertificateRules:
    """Rules in their order: the first whose pattern matches the whole subject says who it is."""

    def __init__(self, rules: Sequence[CertificateRule]) -> None:
        self._rules = [(compiled(rule.subject), rule.principal) for rule in rules]

    def principal(self, subject: str) -> str:
        """Return "User:" and the name. Raises AuthenticationRefusedError where no rule gives a name."""
        for pattern, name in self._rules:
            if found := pattern.fullmatch(subject):
                return f"User:{_checked(_GROUP.sub(lambda group: found.group(int(group[1])) or '', name), subject)}"
        raise AuthenticationRefusedError(f"no rule of authentication.certificates is for the subject {subject}")


def _checked(name: str, subject: str) -> str:
    if not name or len(name) > _LONGEST or not name.isprintable():
        raise AuthenticationRefusedError(f"the rules of authentication.certificates make no name of {subject}")
    return name
