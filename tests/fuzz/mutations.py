"""Changes an input a little: its bytes, or its steps, so that most of what was valid stays valid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tests.fuzz.script import MAX_STEP, SETTINGS, Script, Step, decode

Bytes = Callable[[bytes, Random], bytes]
"""Changes bytes."""

_NUMBERS = (
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\x80\0\0\0",
    b"\0\0\0\0",
    b"\0\0\0\x01",
    b"\xff\xff",
    b"\x7f\xff",
    b"\0",
    b"\x01",
    b"\xff",
    b"\x80\x80\x80\x80\x08",
    b"\xff\xff\xff\xff\x07",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x7f\xff\xff\xff\xff\xff\xff\xff",
    b"\xc3\x28",
    b"\xed\xa0\x80",
)
"""Lengths, counts and ids at which code goes wrong, in the widths of the protocols, and text that is no UTF-8."""
_REPEATS = (2, 2, 3, 3, 17, 17, 200, 2000)


def changed(data: bytes, rng: Random) -> bytes:
    """Return the bytes with one change: of a byte, of a number, of a part, of the end."""
    at = rng.randrange(len(data) + 1)
    change = rng.choice(_CHANGES)
    return change(data, at, rng)


def _cut(data: bytes, at: int, rng: Random) -> bytes:
    del rng
    return data[:at]


def _with_noise(data: bytes, at: int, rng: Random) -> bytes:
    return data[:at] + rng.randbytes(rng.randrange(1, 9)) + data[at:]


def _without_some(data: bytes, at: int, rng: Random) -> bytes:
    return data[:at] + data[at + rng.randrange(1, 9) :]


def _with_a_number(data: bytes, at: int, rng: Random) -> bytes:
    number = rng.choice(_NUMBERS)
    return data[:at] + number + data[at + rng.choice((len(number), rng.randrange(5))) :]


def _repeated(data: bytes, at: int, rng: Random) -> bytes:
    end = min(len(data), at + rng.randrange(1, 64))
    return data[:at] + data[at:end] * rng.choice(_REPEATS) + data[end:]


def _flipped(data: bytes, at: int, rng: Random) -> bytes:
    del at
    flipped = bytearray(data)
    for _ in range(rng.randrange(1, 4) if data else 0):
        at = rng.randrange(len(data))
        flipped[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, flipped[at] ^ (1 << rng.randrange(8)), rng.randrange(256)))
    return bytes(flipped)


_CHANGES = (_cut, _with_noise, _without_some, _with_a_number, _with_a_number, _repeated, _flipped, _flipped)
"""Each takes the bytes, a place in them, and the generator; some more often than others."""


def mutated(data: bytes, rng: Random, seeds: Sequence[bytes], kinds: int, change: Bytes = changed) -> bytes:
    """Return the script with one to three changes. `seeds` lend their steps; a step's kind is below `kinds`."""
    script = decode(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        script = _once(script, rng, seeds, kinds, change)
    return script.encode()


def _once(script: Script, rng: Random, seeds: Sequence[bytes], kinds: int, change: Bytes) -> Script:
    steps = list(script.steps)
    at = rng.randrange(len(steps)) if steps else 0
    match rng.randrange(12) if steps else 0:
        case 0:
            steps[at:at] = decode(rng.choice(seeds)).steps
        case 1:
            del steps[at]
        case 2:
            steps.insert(rng.randrange(len(steps) + 1), steps[at])
        case 3:
            other = rng.randrange(len(steps))
            steps[at], steps[other] = steps[other], steps[at]
        case 4:
            steps[at] = Step(rng.randrange(kinds), steps[at].data)
        case 5:
            settings = bytearray(script.settings)
            settings[rng.randrange(SETTINGS)] = rng.randrange(256)
            return Script(bytes(settings), script.steps)
        case _:
            steps[at] = Step(steps[at].kind, change(steps[at].data, rng)[:MAX_STEP])
    return Script(script.settings, tuple(steps))
