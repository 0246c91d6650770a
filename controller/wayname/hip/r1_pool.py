"""R1s, made and signed in advance (RFC 7401, section 6.7.1): for each identity, group and difficulty of a generation.

A generation ends with its period, or when somebody has an association by it: its Diffie-Hellman values are offered to
nobody else then (section 5.3.2), and those who have its R1 already may still answer. So a flood of I1s costs a hash and
an answer each, and a few signatures a period.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from itertools import takewhile
from typing import NamedTuple

from wayname.hip.errors import ProofError
from wayname.hip.framing import HEADER_OCTETS as PARAMETER_HEADER
from wayname.hip.framing import places
from wayname.hip.groups import Group, KeyPair, make_pair
from wayname.hip.identities import Identity
from wayname.hip.messages import HEADER_OCTETS, Kind, Message
from wayname.hip.parameters import (
    DhGroupList,
    DiffieHellman,
    HipCipher,
    HitSuiteList,
    Parameter,
    Puzzle,
    R1Counter,
)
from wayname.hip.proofs import sign_r1
from wayname.hip.puzzles import LIFETIME, LIFETIME_ON_THE_WIRE, Asked, Puzzles
from wayname.hip.settings import Settings
from wayname.hip.suites import UNKNOWN_PEER, rhash_of
from wayname.hip.transports import EspTransform, Tagged, TransportFormatList
from wayname.identity.hits import HitSuite

# Of so many generations the values are kept; if more are asked for in two periods, the last one serves on.
MOST_GENERATIONS = 1000
# Those whose signatures can be checked here.
KNOWN_SUITES = (HitSuite.ECDSA_SHA384, HitSuite.RSA_DSA_SHA256, HitSuite.EDDSA_CSHAKE128)


class _Which(NamedTuple):
    """What an R1 was made for."""

    counter: int
    hit: IPv6Address
    group: Group
    difficulty: int


@dataclass(slots=True)
class _Generation:
    """In which period it began, and its values by their groups."""

    period: int
    pairs: dict[int, KeyPair] = field(default_factory=dict, repr=False)


class R1Pool:
    """Gives R1s, and knows the secrets behind them as long as their puzzles live."""

    def __init__(self, settings: Settings, puzzles: Puzzles, rng: random.Random, first_counter: int) -> None:
        self._settings = settings
        self._puzzles = puzzles
        self._rng = rng
        self._counter = first_counter
        self._made: dict[_Which, bytes] = {}
        # By their counters, the oldest first.
        self._generations: dict[int, _Generation] = {}

    def r1(self, identity: Identity, groups: Iterable[int], asked: Asked, difficulty: int, now: float) -> bytes:
        """Return an R1 for whoever asks, its checksum not made yet."""
        period = int(now // LIFETIME)
        generation = self._generations.get(self._counter)
        if generation is None or generation.period != period:
            self._begin(period)
        # Section 5.2.7: the first of ours that the initiator knows too; if there is none, it shall see what we know.
        known = set(groups)
        group = next((one for one in self._settings.groups if one in known), self._settings.groups[0])
        which = _Which(self._counter, identity.hit, group, difficulty)
        if which not in self._made:
            self._made[which] = self._make(identity, which)
        return _made_out(self._made[which], asked.initiator, self._puzzles.make(asked, difficulty, now))

    def pair(self, group: int, counter: R1Counter | None) -> KeyPair:
        """Return the secret behind an R1 that was answered."""
        generation = self._generations.get(counter.counter) if counter is not None else None
        if generation is None or counter is None or counter.reserved:
            raise ProofError("the counter of the R1 is not echoed as it was")
        pair = generation.pairs.get(group)
        if pair is None:
            raise ProofError(f"Diffie-Hellman group {group} was not offered")
        return pair

    def served(self, counter: R1Counter | None, now: float) -> None:
        """Somebody has an association by an R1: its values are offered no more."""
        if counter == R1Counter(self._counter) and len(self._generations) < MOST_GENERATIONS:
            self._begin(int(now // LIFETIME))

    def _begin(self, period: int) -> None:
        """Begin a generation, and forget those that nobody can answer to any more."""
        self._counter += 1
        # Only those that go are looked at: while many associate, there are a thousand.
        old = [*takewhile(lambda counter: self._generations[counter].period < period - 1, self._generations)]
        for counter in old:
            del self._generations[counter]
        self._generations[self._counter] = _Generation(period)
        self._made = {}

    def _make(self, identity: Identity, which: _Which) -> bytes:
        pairs = self._generations[which.counter].pairs
        if which.group not in pairs:
            pairs[which.group] = make_pair(which.group, self._rng)
        puzzle = Puzzle(which.difficulty, LIFETIME_ON_THE_WIRE, bytes(2), bytes(rhash_of(which.hit).size))
        offered: tuple[Parameter, ...] = (
            R1Counter(which.counter),
            puzzle,
            DiffieHellman(which.group, pairs[which.group].public),
            HipCipher(self._settings.ciphers),
            identity.host,
            HitSuiteList(KNOWN_SUITES),
            DhGroupList(self._settings.groups),
            TransportFormatList(self._settings.formats),
        )
        if EspTransform.number in self._settings.formats:
            offered += (EspTransform(self._settings.esp_suites),)
        if Tagged.number in self._settings.formats:
            offered += (Tagged(0),)
        return sign_r1(Message(Kind.R1, identity.hit, UNKNOWN_PEER, offered), identity)


def _made_out(octets: bytes, initiator: IPv6Address, puzzle: Puzzle) -> bytes:
    octets = octets[:24] + initiator.packed + octets[HEADER_OCTETS:]
    at, end = next(
        (at + PARAMETER_HEADER, end) for number, at, end in places(octets, HEADER_OCTETS) if number == Puzzle.number
    )
    return octets[:at] + puzzle.contents() + octets[end:]
