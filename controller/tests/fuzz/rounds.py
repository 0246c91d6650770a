"""Gives a decoder inputs, and looks at what it raises."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from fuzz.mutation import mutated
from fuzz.target import REFUSALS, Target

MOST_FINDINGS = 5
# Of the processor: an input takes some tenths of a millisecond, and one that takes so long would take for ever.
SECONDS = 5.0


class EndlessError(Exception):
    """A decoder that does not come to an end."""


@contextmanager
def ending() -> Iterator[None]:
    """Raise EndlessError where something does not come to an end."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise EndlessError(f"more than {SECONDS:g} s")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@dataclass(frozen=True)
class Finding:
    """Octets that make a decoder raise what it may not."""

    target: str
    octets: bytes
    error: Exception


def rounds(target: Target, count: int, seed: int) -> tuple[list[Finding], int]:
    """Return what was found in so many inputs, and how many of them were refused as they may be."""
    rng = random.Random(f"{target.name} {seed}")
    seeds = target.seeds()
    findings: list[Finding] = []
    refused = 0
    for _ in range(count):
        octets = mutated(seeds, rng)
        # Some stay wrong: checksums are looked at too.
        octets = target.seal(octets) if rng.random() < 0.9 else octets
        try:
            with ending():
                target.read(octets)
        except REFUSALS:
            refused += 1
        except Exception as error:
            findings.append(Finding(target.name, octets, error))
            if len(findings) == MOST_FINDINGS:
                break
    return findings, refused
