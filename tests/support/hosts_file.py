"""A hosts file of its own for a process that a test starts: its names have the addresses that the test gives them.

The resolver is the C library's. It needs no root, and other processes do not see the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

BOTH: Final = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n"
"""As Debian, and each container of Kubernetes, has it."""
_NO_IPV6: Final = "ip link set lo up && echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 && "


def with_hosts(directory: Path, hosts: str = BOTH, *, ipv6: bool = True) -> tuple[str, ...]:
    """Return how the command begins that is to have these hosts.

    Without `ipv6` it is in a network namespace of its own, whose loopback interface has 127.0.0.1 only.
    """
    file = directory / "hosts"
    file.write_text(hosts)
    alone = () if ipv6 else ("--net",)
    script = f'{"" if ipv6 else _NO_IPV6}mount --bind "$1" /etc/hosts && shift && exec "$@"'
    return ("unshare", "--user", "--map-root-user", "--mount", *alone, "sh", "-c", script, "sh", str(file))
