"""A certificate authority of one test: its own certificate, and those it signs, as PEM files made by openssl."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


def openssl(*arguments: str) -> None:
    """Run openssl; fail with its error output."""
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key, in files; `both` has the two in one, as Kafka's PEM stores want them."""

    chain: Path
    key: Path

    @property
    def both(self) -> Path:
        """One file with key and certificate."""
        path = self.chain.with_suffix(".both.pem")
        path.write_text(self.key.read_text() + self.chain.read_text())
        return path


class Authority:
    """Signs certificates; its files are in `directory`."""

    def __init__(self, directory: Path, name: str = "ca") -> None:
        self.directory = directory
        self.file, self._key = directory / f"{name}.pem", directory / f"{name}.key"
        openssl("req", "-x509", *_key(self._key), "-out", str(self.file), "-days", "2", "-subj", f"/CN=test {name}")

    def signed(self, name: str, *hosts: str, days: tuple[int, int] = (0, 2), password: str = "") -> Certificate:
        """Return a certificate for these hosts (`DNS:…`, `IP:…`), valid from and until so many days from now."""
        made = Certificate(self.directory / f"{name}.pem", self.directory / f"{name}.key")
        request = self.directory / f"{name}.csr"
        openssl("req", "-new", *_key(made.key, password), "-out", str(request), "-subj", f"/CN={name}")
        extensions = self.directory / f"{name}.ext"
        extensions.write_text(f"subjectAltName={','.join(hosts or ('DNS:localhost', 'IP:127.0.0.1'))}\n")
        sign = ("x509", "-req", "-in", str(request), "-CA", str(self.file), "-CAkey", str(self._key))
        openssl(*sign, "-extfile", str(extensions), *_validity(days), "-out", str(made.chain))
        return made


def _key(path: Path, password: str = "") -> tuple[str, ...]:
    hidden = ("-passout", f"pass:{password}") if password else ("-nodes",)
    return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", *hidden, "-keyout", str(path))


def _validity(days: tuple[int, int]) -> tuple[str, ...]:
    return ("-days", str(days[1]))
