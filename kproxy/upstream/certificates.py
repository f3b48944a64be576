# This module is pure (no I/O, no clock).
"""The certificates that a server presents: what they say, and what does not fit.

`kproxy config check --connect` shows them. The module ssl parses names and dates, but neither key nor signature; those
are read here from the DER that OpenSSL has accepted (RFC 5280, 4.1).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

SHORT: Final = {
    "commonName": "CN",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "countryName": "C",
    "streetAddress": "STREET",
    "domainComponent": "DC",
    "userId": "UID",
}
"""The names of RFC 4514 for what OpenSSL calls the parts of a distinguished name."""
_RSA: Final = "2a864886f70d010101"
_EC: Final = "2a8648ce3d0201"
_OTHER_KEYS: Final = {"2b6570": ("Ed25519", 256), "2b6571": ("Ed448", 456)}
_SIGNATURES: Final = {
    "2a864886f70d010104": "RSA with MD5",
    "2a864886f70d010105": "RSA with SHA-1",
    "2a864886f70d01010a": "RSA-PSS",
    "2a864886f70d01010b": "RSA with SHA-256",
    "2a864886f70d01010c": "RSA with SHA-384",
    "2a864886f70d01010d": "RSA with SHA-512",
    "2a8648ce3d0401": "ECDSA with SHA-1",
    "2a8648ce3d040302": "ECDSA with SHA-256",
    "2a8648ce3d040303": "ECDSA with SHA-384",
    "2a8648ce3d040304": "ECDSA with SHA-512",
    "2b6570": "Ed25519",
    "2b6571": "Ed448",
}
"""By the object identifier's DER, in hexadecimal digits."""
_WEAK_SIGNATURES: Final = ("MD5", "SHA-1")
_LEAST_BITS: Final = {"RSA": 2048, "EC": 224}
_MONTHS: Final = "JanFebMarAprMayJunJulAugSepOctNovDec"
_EXPLICIT: Final = 0xA0
_NO_ISSUER: Final = frozenset({20, 21})
_SELF_SIGNED: Final = frozenset({18, 19})
"""X509_V_ERR of OpenSSL's x509_vfy.h: the issuer is not known, and is known but not trusted."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """One certificate. Times are in seconds since the Unix epoch; `key_bits` is 0 for a kind of key not known here."""

    subject: str
    issuer: str
    begins: float
    ends: float
    names: Sequence[str]
    """Subject alternative names: `DNS:…`, `IP Address:…`."""
    key: str
    key_bits: int
    signature: str


def certificate(shown: Mapping[str, Any], der: bytes) -> Certificate:
    """Return what a certificate says; `shown` is of the form of `ssl.SSLSocket.getpeercert`."""
    key, bits, signature = _algorithms(der)
    return Certificate(
        _name(shown.get("subject", ())),
        _name(shown.get("issuer", ())),
        _seconds(shown["notBefore"]),
        _seconds(shown["notAfter"]),
        [f"{kind}:{value}" for kind, value in shown.get("subjectAltName", ())],
        key,
        bits,
        signature,
    )


def misfits(chain: Sequence[Certificate], host: str | None, now: float, verify_code: int | None) -> Iterator[str]:
    """Yield why a chain is not accepted, and what to do, in lines; the server's own certificate is its first.

    `host` is the name that it must have, None where any will do. `verify_code` is what OpenSSL said of it, None if
    nothing.
    """
    for one in chain:
        if now >= one.ends:
            yield f"{one.subject} has expired on {when(one.ends)}: renew it"
        elif now < one.begins:
            yield f"{one.subject} is not valid before {when(one.begins)}: look at the clocks"
    if chain and host is not None and not is_for(chain[0].names, host):
        has = ", ".join(chain[0].names) or "no name at all"
        yield f"{chain[0].subject} is not for {host}, it has {has}: connect by such a name, or set `server_name`"
    if chain and verify_code in _SELF_SIGNED:
        yield f"{chain[-1].subject} signs itself, and is not trusted: name its certificate in `ca`"
    if chain and verify_code in _NO_ISSUER:
        yield (
            f"{chain[-1].issuer}, which issued {chain[-1].subject}, is neither sent nor trusted: name it in `ca`, or, "
            "where a trusted authority has issued it, have the broker send its whole chain"
        )


def weaknesses(chain: Sequence[Certificate]) -> Iterator[str]:
    """Yield what is accepted today, but weak."""
    for one in chain:
        if 0 < one.key_bits < _LEAST_BITS.get(one.key, 0):
            yield f"{one.subject} has a weak key, {one.key} of {one.key_bits} bits"
        if one.signature.endswith(_WEAK_SIGNATURES) and one.subject != one.issuer:
            yield f"{one.subject} has a weak signature, {one.signature}"


def when(seconds: float) -> str:
    """Return a moment for people."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}Z"


def _seconds(shown: str) -> float:
    """Return the moment of a date as OpenSSL writes it: `Nov 25 23:00:00 2026 GMT`."""
    month, day, clock, year, _ = shown.split()
    hours, minutes, seconds = map(int, clock.split(":"))
    number = _MONTHS.index(month) // 3 + 1
    return datetime(int(year), number, int(day), hours, minutes, seconds, tzinfo=UTC).timestamp()


def _name(parts: Iterable[Iterable[tuple[str, str]]]) -> str:
    return ", ".join(f"{SHORT.get(kind, kind)}={value}" for part in parts for kind, value in part) or "(no subject)"


def is_for(names: Iterable[str], host: str) -> bool:
    """Return whether one of a certificate's subject alternative names is this host's, a DNS name or an address."""
    found = [name.partition(":") for name in names]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return any(kind == "DNS" and _covers(value.lower(), host.lower()) for kind, _, value in found)
    return any(kind == "IP Address" and ipaddress.ip_address(value.strip()) == address for kind, _, value in found)


def _covers(pattern: str, host: str) -> bool:
    """Return True for a name, or one whose first label is `*` (RFC 6125)."""
    return pattern == host or (pattern.startswith("*.") and pattern[2:] == host.partition(".")[2])


def _algorithms(der: bytes) -> tuple[str, int, str]:
    """Return the key's kind, its bits, and how the certificate is signed."""
    (whole,) = _children(der, 0, len(der))
    signed, algorithm, _ = _children(der, *whole[1:])
    fields = _children(der, *signed[1:])
    if fields[0][0] == _EXPLICIT:  # the version, which may be absent
        fields = fields[1:]
    key_algorithm, bits = _children(der, *fields[5][1:])
    kind, size = _key(_oid(der, key_algorithm), der[bits[1] + 1 : bits[2]])
    identifier = _oid(der, algorithm)
    return kind, size, _SIGNATURES.get(identifier, f"object identifier {identifier}")


def _key(identifier: str, public: bytes) -> tuple[str, int]:
    if identifier == _RSA:
        (whole,) = _children(public, 0, len(public))
        modulus = _children(public, *whole[1:])[0]
        return "RSA", int.from_bytes(public[modulus[1] : modulus[2]]).bit_length()
    if identifier == _EC:
        size = (len(public) - 1) // 2 * 8  # of an uncompressed point
        return "EC", 521 if size == 528 else size
    return _OTHER_KEYS.get(identifier, (f"object identifier {identifier}", 0))


def _oid(der: bytes, algorithm: tuple[int, int, int]) -> str:
    _, begin, end = _children(der, *algorithm[1:])[0]
    return der[begin:end].hex()


def _children(der: bytes, begin: int, end: int) -> list[tuple[int, int, int]]:
    """Return the values between two places: the tag of each, and where its content begins and ends."""
    found = []
    while begin < end:
        tag, size, at = der[begin], der[begin + 1], begin + 2
        if size & 0x80:
            width = size & 0x7F
            size, at = int.from_bytes(der[at : at + width]), at + width
        found.append((tag, at, at + size))
        begin = at + size
    return found
