"""Runs in a network namespace of its own, and hands sockets of it to the process outside: `... UNIX_PATH PORT...`.

`tests.support.namespace` starts it, as a script. A socket belongs to the namespace in which it was made, whoever uses
it.
"""

import fcntl
import socket
import struct
import sys

HOST = "127.0.0.1"
SIOCSIFFLAGS = 0x8914
IFF_UP = 1


def main() -> None:
    """Bring the loopback interface up, hand out a listener for each port, then a new socket for each byte."""
    path, ports = sys.argv[1], [int(port) for port in sys.argv[2:]]
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
    with socket.socket(socket.AF_UNIX) as channel:
        channel.connect(path)
        listeners = [socket.create_server((HOST, port), backlog=128) for port in ports]
        socket.send_fds(channel, [b"l"], [one.fileno() for one in listeners])
        for one in listeners:
            one.close()
        while channel.recv(1):
            with socket.socket() as made:
                socket.send_fds(channel, [b"s"], [made.fileno()])


if __name__ == "__main__":
    main()
