"""Makes octets that are nearly right: what is wrong with them reaches the places that look closely."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

# Lengths, counts and numbers that are at the edge of something.
TELLING = (0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 129, 254, 255)
MOST_CHANGES = 4
MOST_OCTETS = 2048

Change = Callable[[bytearray, random.Random, Sequence[bytes]], None]


def mutated(seeds: Sequence[bytes], rng: random.Random) -> bytes:
    """Return one of the seeds with some changes, or now and then octets that nothing is right about."""
    if rng.random() < 0.05:
        return rng.randbytes(rng.randrange(120))
    octets = bytearray(rng.choice(seeds))
    for _ in range(rng.randint(1, MOST_CHANGES)):
        rng.choice(CHANGES)(octets, rng, seeds)
    return bytes(octets[:MOST_OCTETS])


def _place(octets: bytearray, rng: random.Random) -> int:
    # Heads stand in front.
    end = len(octets) if rng.random() < 0.5 else min(len(octets), 64)
    return rng.randrange(end)


def flip(octets: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    """Change a bit."""
    if octets:
        octets[_place(octets, rng)] ^= 1 << rng.randrange(8)


def set_octet(octets: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    """Put a telling octet, or any, in the place of another."""
    if octets:
        octets[_place(octets, rng)] = rng.choice(TELLING) if rng.random() < 0.7 else rng.randrange(256)


def set_word(octets: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    """Put a number of 16 bits in the place of another: one at an edge, or near to what is left."""
    if len(octets) >= 2:
        at = rng.randrange(len(octets) - 1)
        left = len(octets) - at
        number = rng.choice((0, 1, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, left, left - 2, left - 4, left + 1))
        octets[at : at + 2] = (number & 0xFFFF).to_bytes(2)


def cut(octets: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    """End early."""
    if octets:
        del octets[rng.randrange(len(octets)) :]


def take_out(octets: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    """Leave some octets out."""
    if octets:
        at = _place(octets, rng)
        del octets[at : at + rng.choice((1, 2, 4, 8, 16))]


def put_in(octets: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    """Put some octets between others."""
    at = _place(octets, rng) if octets else 0
    size = rng.choice((1, 2, 4, 8, 16, 300))
    octets[at:at] = bytes(size) if rng.random() < 0.5 else rng.randbytes(size)


def repeat(octets: bytearray, rng: random.Random, _: Sequence[bytes]) -> None:
    """Say something twice."""
    if octets:
        at = _place(octets, rng)
        octets[at:at] = octets[at : at + rng.choice((4, 8, 16, 24, 40))]


def splice(octets: bytearray, rng: random.Random, seeds: Sequence[bytes]) -> None:
    """Go on as another message does."""
    other = rng.choice(seeds)
    at = rng.randrange(len(octets) + 1)
    octets[at:] = other[rng.randrange(len(other) + 1) if rng.random() < 0.5 else min(at, len(other)) :]


CHANGES: tuple[Change, ...] = (flip, set_octet, set_octet, set_word, set_word, cut, take_out, put_in, repeat, splice)
