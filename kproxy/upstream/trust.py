"""Whom kproxy trusts to be a server that it asks over https: the same on every version of Python.

`kproxy.upstream.http`, the `otlp` receiver and `kproxy`'s own commands make their contexts with it.
"""

from __future__ import annotations

import ssl


def client_context(ca: str | None = None) -> ssl.SSLContext:
    """Return a context that demands a certificate for the host, by the authorities in a file, or by the system's.

    Raises OSError for the file. `ssl.create_default_context` is strict since Python 3.13 (VERIFY_X509_STRICT): it
    refuses a certificate without an authority key id, as `openssl x509 -req` makes them, and authorities without a key
    usage. They are in use, and brokers are trusted by them.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if ca is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(ca)
    return context
