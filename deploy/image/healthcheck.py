#!/opt/kproxy/bin/python3 -IS
"""The image's health check: exit 0 when kproxy's admin port answers 200.

usage: kproxy-healthcheck [HOST:PORT [PATH]]   (default: KPROXY_ADMIN's port on loopback, /livez)

No HTTP library: the check runs every few seconds, and importing one costs more than the question.
"""

import os
import socket
import sys

TIMEOUT = 2.0
ANY = ("0.0.0.0", "::", "")


def target(arguments: list[str]) -> tuple[str, int, str]:
    """Where to ask: (host, port, path)."""
    address = arguments[0] if arguments else os.environ.get("KPROXY_ADMIN", "0.0.0.0:9190")
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    return "127.0.0.1" if host in ANY else host, int(port), arguments[1] if len(arguments) > 1 else "/livez"


def ask(host: str, port: int, path: str) -> str:
    """The status line that the admin port answers."""
    with socket.create_connection((host, port), TIMEOUT) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        return connection.recv(256).split(b"\r\n", 1)[0].decode("latin-1")


def main(arguments: list[str]) -> int:
    """0 for healthy; 1 with one line for anything else."""
    host, port, path = target(arguments)
    try:
        status = ask(host, port, path)
    except OSError as error:
        status = str(error)
    if " 200 " in f"{status} ":
        return 0
    sys.stderr.write(f"http://{host}:{port}{path}: {status}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
