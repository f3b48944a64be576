"""Certificates of every kind that OpenSSL makes, and what is weak in them."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from kproxy.upstream.certificates import Certificate, certificate, misfits, weaknesses
from tests.support.authority import openssl

KINDS = {
    "rsa:2048": ("RSA", 2048),
    "rsa:1024": ("RSA", 1024),
    "P-256": ("EC", 256),
    "P-521": ("EC", 521),
    "ed25519": ("Ed25519", 256),
    "rsa-pss": ("object identifier 2a864886f70d01010a", 0),
}
MORE = {
    "rsa:2048": ("rsa:2048",),
    "rsa:1024": ("rsa:1024",),
    "P-256": ("ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
    "P-521": ("ec", "-pkeyopt", "ec_paramgen_curve:P-521"),
    "ed25519": ("ed25519",),
    "rsa-pss": ("rsa-pss",),
}


def made(directory: Path, kind: str, *flags: str) -> Certificate:
    """A certificate that signs itself, with this kind of key."""
    file, key = directory / "made.pem", directory / "made.key"
    subject = "/C=CH/O=Example/CN=made"
    openssl(
        "req",
        "-x509",
        "-nodes",
        "-newkey",
        *MORE[kind],
        "-keyout",
        str(key),
        "-out",
        str(file),
        "-subj",
        subject,
        *flags,
    )
    return read(file)


def read(file: Path) -> Certificate:
    shown = ssl._ssl._test_decode_cert(str(file))  # type: ignore[attr-defined]
    return certificate(shown, ssl.PEM_cert_to_DER_cert(file.read_text()))


@pytest.mark.parametrize("kind", KINDS)
def test_keys(tmp_path: Path, kind: str) -> None:
    """Kind and bits, and the whole subject."""
    one = made(tmp_path, kind)
    assert (one.key, one.key_bits) == KINDS[kind]
    assert (one.subject, one.issuer, one.names) == ("C=CH, O=Example, CN=made",) * 2 + ([],)
    assert [*misfits([one], "made", one.begins, None)] == [
        f"{one.subject} is not for made, it has no name at all: connect by such a name, or set `server_name`"
    ]
    assert [*misfits([one], None, one.begins, None)] == []
    weak = kind == "rsa:1024"
    assert [*weaknesses([one])] == [f"{one.subject} has a weak key, RSA of 1024 bits"] * weak


@pytest.mark.parametrize("digest", ["sha1", "md5"])
def test_a_weak_signature(tmp_path: Path, digest: str) -> None:
    """Of an old certificate, without a version; an authority's own signature says nothing."""
    own = made(tmp_path, "rsa:2048", f"-{digest}")
    assert [*weaknesses([own])] == []
    request, signed = tmp_path / "one.csr", tmp_path / "one.pem"
    key = ("-newkey", "rsa:2048", "-nodes", "-keyout", str(tmp_path / "one.key"))
    openssl("req", "-new", *key, "-out", str(request), "-subj", "/CN=one")
    sign = ("-CA", str(tmp_path / "made.pem"), "-CAkey", str(tmp_path / "made.key"), "-set_serial", "1", f"-{digest}")
    openssl("x509", "-req", "-in", str(request), *sign, "-out", str(signed))
    name = {"sha1": "SHA-1", "md5": "MD5"}[digest]
    assert [*weaknesses([read(signed)])] == [f"CN=one has a weak signature, RSA with {name}"]


def test_a_certificate_without_names(tmp_path: Path) -> None:
    """Its subject is empty as well."""
    file, key = tmp_path / "made.pem", tmp_path / "made.key"
    openssl("req", "-x509", "-nodes", "-newkey", "ed25519", "-keyout", str(key), "-out", str(file), "-subj", "/")
    assert read(file).subject == "(no subject)"
