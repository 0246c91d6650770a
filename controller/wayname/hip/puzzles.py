"""Puzzles (RFC 7401, sections 4.1.1 and 6.3, appendix A): what makes an initiator work before a responder does.

RHASH of I, both HITs and J must end in K zeros. I is a keyed hash of who asks from where and of K, so a responder keeps
nothing and knows its own puzzles again: a wrong solution costs it two hashes.
"""

from __future__ import annotations

import hmac
import random
from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.hip.errors import MessageError, ProofError
from wayname.hip.parameters import Puzzle, Solution
from wayname.hip.suites import rhash_of
from wayname.secrets_by_period import SecretsByPeriod

LIFETIME = 120.0  # of a secret; puzzles live for once to twice as long
LIFETIME_ON_THE_WIRE = 32 + 6  # 64 seconds
# The opaque octets: whether the period is an odd one, and which puzzle of the period it is.
COUNT_BITS = 15
# A solution that was right may be tried so often: what follows is dear, and packets may come twice.
TRIES = 4
MOST_SPENT = 100_000
# No clock goes on while a puzzle is solved, so its lifetime is counted in what even a slow machine does.
TRIES_A_SECOND = 1 << 16
SECOND_ON_THE_WIRE = 32


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks for a puzzle, from where to where."""

    initiator: IPv6Address
    responder: IPv6Address
    source: IPv6Address
    destination: IPv6Address

    def encode(self) -> bytes:
        """Return octets that nobody else has who asks."""
        return b"".join(one.packed for one in (self.initiator, self.responder, self.source, self.destination))


class Puzzles:
    """Makes puzzles, and knows its own again as long as they live."""

    def __init__(self, rng: random.Random) -> None:
        self._secrets = SecretsByPeriod(rng, LIFETIME)
        self._made = 0

    def make(self, asked: Asked, difficulty: int, now: float) -> Puzzle:
        """Return a puzzle for whoever asks; nobody gets the same one twice in a period (section 4.1.2)."""
        period, secret = self._secrets.current(now)
        self._made = (self._made + 1) % (1 << COUNT_BITS)
        opaque = (period % 2 << COUNT_BITS | self._made).to_bytes(2)
        return Puzzle(difficulty, LIFETIME_ON_THE_WIRE, opaque, _random(asked, difficulty, opaque, secret))

    def check(self, asked: Asked, solution: Solution, now: float) -> None:
        """Raise ProofError unless a puzzle is ours and solved."""
        for period, secret in self._secrets.known(now).items():
            if period % 2 == int.from_bytes(solution.opaque) >> COUNT_BITS:
                ours = _random(asked, solution.difficulty, solution.opaque, secret)
                if hmac.compare_digest(ours, solution.random):
                    if not is_solved(asked, solution.difficulty, solution.random, solution.solution):
                        raise ProofError("the puzzle is not solved")
                    return
        raise ProofError("the puzzle is not ours, or too old")

    def spend(self, solution: Solution, now: float) -> None:
        """Take note that what follows a puzzle is about to be done; raise ProofError if it was often enough."""
        if self._secrets.count_spent(now) >= MOST_SPENT:
            raise ProofError("too many puzzles were solved in a short time")
        if not any(self._secrets.spend(once, now) for once in _tries(solution)):
            raise ProofError("the puzzle served already")

    def exhaust(self, solution: Solution, now: float) -> None:
        """Take note that a solution made an association, and makes no second one."""
        for once in _tries(solution):
            self._secrets.spend(once, now)


def is_solved(asked: Asked, difficulty: int, random_i: bytes, solution: bytes) -> bool:
    """Tell whether a solution is right."""
    digest = rhash_of(asked.responder).digest(random_i + _hits(asked) + solution)
    return not int.from_bytes(digest) & (1 << difficulty) - 1


def check_difficulty(puzzle: Puzzle, most_difficult: int) -> None:
    """Raise MessageError if a puzzle would take too long."""
    if puzzle.difficulty > most_difficult:
        raise MessageError(f"a puzzle of difficulty {puzzle.difficulty}; more than {most_difficult} is not solved here")


def solve(puzzle: Puzzle, asked: Asked, rng: random.Random, most_difficult: int) -> Solution:
    """Solve a puzzle; refuse one that would take too long, or longer than it lives."""
    rhash = rhash_of(asked.responder)
    if len(puzzle.random) != rhash.size:
        raise MessageError(f"a puzzle of {len(puzzle.random)} octets for a hash of {rhash.size}")
    check_difficulty(puzzle, most_difficult)
    mask = (1 << puzzle.difficulty) - 1
    head = puzzle.random + _hits(asked)
    number, end = rng.getrandbits(8 * rhash.size), 1 << 8 * rhash.size
    for _ in range(TRIES_A_SECOND << puzzle.lifetime >> SECOND_ON_THE_WIRE):
        solution = number.to_bytes(rhash.size)
        if not int.from_bytes(rhash.digest(head + solution)) & mask:
            return Solution(puzzle.difficulty, puzzle.opaque, puzzle.random, solution)
        number = (number + 1) % end
    raise MessageError(f"a puzzle of difficulty {puzzle.difficulty} is not solved as long as it lives")


def _tries(solution: Solution) -> list[bytes]:
    """Return what is spent of a solution."""
    # Of a puzzle, not of its solution: an easy one has many.
    return [solution.random + bytes([one]) for one in range(TRIES)]


def _hits(asked: Asked) -> bytes:
    return asked.initiator.packed + asked.responder.packed


def _random(asked: Asked, difficulty: int, opaque: bytes, secret: bytes) -> bytes:
    whole = hmac.digest(secret, asked.encode() + bytes([difficulty]) + opaque, "sha512")
    return whole[: rhash_of(asked.responder).size]
