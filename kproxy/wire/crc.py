# This module is pure.
"""How a CRC-32C changes with a few bits far in front of its end, in a time that hardly depends on how far.

A CRC is linear: the checksums of two messages of one length differ by what the differing bits alone make of it. Zeros
behind these bits are a linear step of 32 bits to 32, and 2**k zeros at a time are, too. google-crc32c has none of this:
it would read as many zeros as there are bytes behind, which takes 0.2 ms for a batch of 1 MiB.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import chain
from typing import Final, TypeAlias

_POLYNOMIAL: Final = 0x82F63B78
"""Castagnoli's, reflected."""
_NIBBLES: Final = 8
_LENGTH_BITS: Final = 32

Step: TypeAlias = tuple[tuple[int, ...], ...]
"""What each nibble of a CRC becomes, from the lowest on."""


@lru_cache(4096)  # producers of small records send batches of few sizes
def crc32c_difference(bits: int, behind: int) -> int:
    """What to XOR a CRC-32C with when eight bytes, big-endian, are XORed with `bits`; so many bytes follow them."""
    crc, steps, place = _of_bits(bits), _steps(), 0
    while behind:
        if behind & 1:
            crc = _taken(steps[place], crc)
        behind >>= 1
        place += 1
    return crc


@lru_cache(64)
def _of_bits(bits: int) -> int:
    step, crc = _steps()[0], 0
    for byte in bits.to_bytes(8, "big"):
        crc = _taken(step, crc ^ byte)
    return crc


def _taken(step: Step, crc: int) -> int:
    found = 0
    for nibble in step:
        found ^= nibble[crc & 15]
        crc >>= 4
    return found


@cache
def _steps() -> tuple[Step, ...]:
    """For 1, 2, 4 … 2**31 zeros; 5 ms, once."""
    bits = [_zero_byte(1 << bit) for bit in range(32)]
    steps = []
    for _ in range(_LENGTH_BITS):
        steps.append(tuple(_nibble(bits[4 * place : 4 * place + 4]) for place in range(_NIBBLES)))
        bits = [_taken(steps[-1], one) for one in bits]
    return tuple(steps)


def _nibble(bits: list[int]) -> tuple[int, ...]:
    """What each value of four bits becomes, from what each bit does."""
    values = [0]
    for bit in bits:
        values = list(chain(values, (value ^ bit for value in values)))
    return tuple(values)


def _zero_byte(crc: int) -> int:
    for _ in range(8):
        crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc
