"""Gives a decoder inputs, and looks at what it raises."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fuzz.mutation import mutated
from fuzz.targets import REFUSALS, Target

MOST_FINDINGS = 5


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
            target.read(octets)
        except REFUSALS:
            refused += 1
        except Exception as error:
            findings.append(Finding(target.name, octets, error))
            if len(findings) == MOST_FINDINGS:
                break
    return findings, refused
