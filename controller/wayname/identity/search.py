"""The search for a modifier: on all cores, with its progress told, stopped and taken up again."""

from collections.abc import Callable
from dataclasses import dataclass

import wayname_cga

from wayname.identity.parameters import STRENGTHS

# Tries between two reports: a few tenths of a second on a core or two.
ROUND = 1 << 21


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is."""

    tried: int
    expected: int
    next: bytes  # where it goes on, if it is ended here

    @property
    def chance_so_far(self) -> float:
        """How likely it was to be over by now."""
        return 1 - (1 - 1 / self.expected) ** self.tried


def expected_tries(sec: int) -> int:
    """Return how many modifiers must be tried on average."""
    return 1 << STRENGTHS[sec].zero_bits


def find_modifier(tail: bytes, sec: int, start: bytes, threads: int, go_on: Callable[[Progress], bool]) -> bytes | None:
    """Try modifiers from `start` on until one will do, or until `go_on` says no; it is asked after every round."""
    search = wayname_cga.Search(tail, sec, start)
    while True:
        modifier = search.run(threads, ROUND)
        if modifier is not None:
            return modifier
        if not go_on(Progress(search.tried, expected_tries(sec), search.next)):
            return None
