"""A certificate authority of one test, and a server of `localhost` with a certificate from it."""

from __future__ import annotations

import ssl
from pathlib import Path

from tests.support import authority


class Authority(authority.Authority):
    """Has signed for `localhost`; its files are in `directory`."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.own = self.signed("own", "DNS:localhost")
        """The server's certificate."""
        self.server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.server.load_cert_chain(self.own.chain, self.own.key)

    def client(self) -> ssl.SSLContext:
        """A context that trusts the authority."""
        return ssl.create_default_context(cafile=str(self.file))
