"""A certificate authority of one test: its own certificate, and those it signs, as PEM files made by openssl."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
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

    @classmethod
    def between(cls, root: Authority, directory: Path, name: str = "between") -> Authority:
        """An authority whose own certificate another one has signed (an intermediate)."""
        made = cls.__new__(cls)
        made.directory = directory
        made.file, made._key = directory / f"{name}.pem", directory / f"{name}.key"
        request, extensions = directory / f"{name}.csr", directory / f"{name}.ext"
        openssl("req", "-new", *_key(made._key), "-out", str(request), "-subj", f"/CN={name}")
        extensions.write_text("basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n")
        sign = ("x509", "-req", "-in", str(request), "-CA", str(root.file), "-CAkey", str(root._key))
        openssl(*sign, "-extfile", str(extensions), "-days", "2", "-out", str(made.file))
        return made

    def signed(
        self, name: str, *hosts: str, days: tuple[int, int] = (0, 2), password: str = "", usage: str = ""
    ) -> Certificate:
        """Return a certificate for these hosts (`DNS:…`, `IP:…`), valid from and until so many days from now.

        `usage` is OpenSSL's extendedKeyUsage: by default any.
        """
        made = Certificate(self.directory / f"{name}.pem", self.directory / f"{name}.key")
        request = self.directory / f"{name}.csr"
        openssl("req", "-new", *_key(made.key, password), "-out", str(request), "-subj", f"/CN={name}")
        extensions = self.directory / f"{name}.ext"
        extended = f"extendedKeyUsage={usage}\n" if usage else ""
        names = ",".join(hosts or ("DNS:localhost", "IP:127.0.0.1"))
        extensions.write_text(f"subjectAltName={names}\n{extended}")
        if days[0] == 0:
            sign = ("x509", "-req", "-in", str(request), "-CA", str(self.file), "-CAkey", str(self._key))
            openssl(*sign, "-extfile", str(extensions), "-days", str(days[1]), "-out", str(made.chain))
        else:  # of openssl's commands only `ca` can set when it begins
            self._sign_from(request, extensions, made.chain, days)
        return made

    def _sign_from(self, request: Path, extensions: Path, chain: Path, days: tuple[int, int]) -> None:
        database, config = self.directory / "database", self.directory / "ca.cnf"
        database.write_text("")
        config.write_text(
            f"[ca]\ndefault_ca=it\n[it]\ndatabase={database}\nnew_certs_dir={self.directory}\nrand_serial=yes\n"
            "default_md=sha256\nunique_subject=no\npolicy=names\n[names]\ncommonName=supplied\n"
        )
        begins, ends = ((datetime.now(UTC) + timedelta(days=each)).strftime("%Y%m%d%H%M%SZ") for each in days)
        sign = ("ca", "-batch", "-config", str(config), "-cert", str(self.file), "-keyfile", str(self._key))
        when = ("-startdate", begins, "-enddate", ends)
        openssl(*sign, "-in", str(request), "-extfile", str(extensions), *when, "-notext", "-out", str(chain))


def _key(path: Path, password: str = "") -> tuple[str, ...]:
    hidden = ("-passout", f"pass:{password}") if password else ("-nodes",)
    return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", *hidden, "-keyout", str(path))
