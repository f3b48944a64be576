"""Attacks by clients that authenticate to kproxy, from an address of their own: many that stop, and many that guess.

A real Kafka is behind it, and the healthy client has another address, a name and a password.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.support.raw import sasl_authenticate, sasl_handshake

from .attack import Attack
from .handshakes import over_and_over, that_stop

HEALTHY: Final = ("healthy", "its-own-password")
_BEGUN: Final = sasl_handshake(1, "SCRAM-SHA-512") + sasl_authenticate(2, b"n,,n=healthy,r=nonce")
_GUESS: Final = sasl_handshake(1, "PLAIN") + sasl_authenticate(2, b"\0healthy\0guess")

ATTACKS: Final = (
    Attack(
        "half-logins",
        None,
        "2,000 logins by SCRAM, and nothing more",
        partial(that_stop, _BEGUN),
        15,
        logins=True,
        reserve=8,  # 17 are kept of 500 logins at once
    ),
    Attack("no-login", None, "2,000 connections to log in, and nothing more", partial(that_stop, b""), 10, logins=True),
    Attack("guesses", None, "500 wrong passwords a second", partial(over_and_over, _GUESS), 15, logins=True),
)
