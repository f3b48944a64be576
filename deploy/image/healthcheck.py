#!/opt/kproxy/bin/python3 -IS
"""The image's health check: exit 0 when kproxy's admin port answers 200.

usage: kproxy-healthcheck [[http://|https://]HOST:PORT [PATH]]   (default: KPROXY_ADMIN's port on loopback, /livez)

A port that is found to speak TLS is asked by TLS. Its certificate is not verified, as the kubelet does not: whether
kproxy lives is no secret. Where clients must show a certificate, it is that of KPROXY_ADMIN_CERTIFICATE_FILE.

No HTTP library: the check runs every few seconds, and importing one costs more than the question.
"""

import os
import socket
import sys

TIMEOUT = 2.0
WANTS_TLS = ": this port speaks TLS"
ANY = ("0.0.0.0", "::", "")


def target(arguments: list[str]) -> tuple[str, str, int, str]:
    """Where to ask: (scheme, host, port, path)."""
    given = arguments[0] if arguments else os.environ.get("KPROXY_ADMIN", "0.0.0.0:9190")
    scheme, _, address = given.rpartition("://")
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    path = arguments[1] if len(arguments) > 1 else "/livez"
    return scheme or "http", "127.0.0.1" if host in ANY else host, int(port), path


def ask(scheme: str, host: str, port: int, path: str) -> str:
    """The status line that the admin port answers."""
    with socket.create_connection((host, port), TIMEOUT) as plain, secured(plain, scheme) as connection:
        try:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        except OSError:
            connection.recv(1)  # raises what the server had said before it closed, such as "certificate required"
            raise
        received = connection.recv(1024)
    return received.split(b"\r\n", 1)[0].decode("latin-1") + (WANTS_TLS if b" https://" in received else "")


def secured(plain: socket.socket, scheme: str) -> socket.socket:
    """The connection, by TLS for https."""
    if scheme != "https":
        return plain
    import ssl  # noqa: PLC0415 - 10 ms that only TLS costs

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if certificate := os.environ.get("KPROXY_ADMIN_CERTIFICATE_FILE"):
        context.load_cert_chain(certificate, os.environ.get("KPROXY_ADMIN_KEY_FILE"))
    return context.wrap_socket(plain)


def main(arguments: list[str]) -> int:
    """0 for healthy; 1 with one line for anything else."""
    scheme, host, port, path = target(arguments)
    try:
        status = ask(scheme, host, port, path)
        if status.endswith(WANTS_TLS):
            scheme = "https"
            status = ask(scheme, host, port, path)
    except OSError as error:
        status = str(error)
    if " 200 " in f"{status} ":
        return 0
    sys.stderr.write(f"{scheme}://{host}:{port}{path}: {status}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
