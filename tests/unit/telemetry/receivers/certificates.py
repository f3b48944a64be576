"""A certificate authority of one test, and a server's certificate from it, made by the openssl command."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path


def openssl(*arguments: str) -> None:
    """Run openssl; fail with its error output."""
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)


class Authority:
    """Signs for `localhost`; its files are in `directory`."""

    def __init__(self, directory: Path) -> None:
        self.file = directory / "ca.pem"
        key, own = directory / "key.pem", directory / "own.pem"
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(key))
        openssl("req", "-x509", *curve, "-out", str(self.file), "-days", "2", "-subj", "/CN=test CA")
        name = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
        signed = ("-CA", str(self.file), "-CAkey", str(key), "-days", "2")
        openssl("req", "-x509", "-new", "-key", str(key), *name, *signed, "-out", str(own))
        self.server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.server.load_cert_chain(own, key)

    def client(self) -> ssl.SSLContext:
        """A context that trusts the authority."""
        return ssl.create_default_context(cafile=str(self.file))
