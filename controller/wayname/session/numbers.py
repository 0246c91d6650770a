"""Numbers of sessions, of all protocols together: places in the switch's tables and registers.

The switch watches sessions with low numbers, and has registers for them. A register still holds what the last session
of its number left there. Its generation says so: a session that takes over the number goes on counting, so the switch
sees that it is another one. Sessions that need no watching have the numbers above, as long as there are any.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from wayname.edge.boundary import Json
from wayname.edge.outputs import Outputs
from wayname.p4_constants import WATCHED_SESSIONS

GENERATIONS = 256
NUMBER = "number"


class SessionNumbers:
    """Gives numbers from 1 on, the one that was free for longest first when all were used."""

    def __init__(self, most: int, remembered: Mapping[str, Json], outputs: Outputs) -> None:
        self._outputs = outputs
        self._most = most
        highest_watched = min(most, WATCHED_SESSIONS - 1)
        self._watched = _Range(1, highest_watched)
        self._unwatched = _Range(highest_watched + 1, most)
        self._generations: dict[int, int] = {}
        for key, generation in remembered.items():
            kind, _, number = key.partition(" ")
            if kind == NUMBER and isinstance(generation, int) and int(number) <= highest_watched:
                self._generations[int(number)] = generation
                self._watched.add(int(number))

    @property
    def used(self) -> float:
        """How much of the switch's room for sessions is in use, from 0 to 1."""
        taken = len(self._watched) + len(self._unwatched)
        return taken / self._most if self._most else 1.0

    def take(self) -> tuple[int, int] | None:
        """Return a number and the generation that its session begins with; None if there is none left."""
        number = self._watched.take()
        if number is None:
            return None
        if number not in self._generations:
            return number, 1
        self._outputs.remember(_key(number), None)
        return number, (self._generations.pop(number) + 1) % GENERATIONS

    def take_unwatched(self) -> tuple[int, int] | None:
        """Return a number for a session that the switch need not watch."""
        number = self._unwatched.take()
        return self.take() if number is None else (number, 1)

    def keep(self, number: int) -> None:
        """Take the number of a session of an earlier controller."""
        self._of(number).keep(number)

    def free(self, number: int, generation: int) -> None:
        """Take a number back."""
        self._of(number).free(number)
        if number < WATCHED_SESSIONS:
            self._generations[number] = generation
            self._outputs.remember(_key(number), generation)

    def _of(self, number: int) -> _Range:
        return self._watched if number < WATCHED_SESSIONS else self._unwatched


class _Range:
    """Numbers that follow each other, and which of them are free."""

    def __init__(self, first: int, last: int) -> None:
        self._next = first
        self._last = last
        self._freed: deque[int] = deque()
        self._taken: set[int] = set()
        # Those above the ones that were given in order: of an earlier controller.
        self._known: set[int] = set()

    def __len__(self) -> int:
        return len(self._taken)

    def take(self) -> int | None:
        while self._next <= self._last:
            number, self._next = self._next, self._next + 1
            if number not in self._known:
                self._taken.add(number)
                return number
        if not self._freed:
            return None
        self._taken.add(self._freed[0])
        return self._freed.popleft()

    def add(self, number: int) -> None:
        """Have a number that was used before: it comes behind those that were not."""
        self._known.add(number)
        self._freed.append(number)

    def keep(self, number: int) -> None:
        self._known.add(number)
        self._taken.add(number)

    def free(self, number: int) -> None:
        self._taken.remove(number)
        self._freed.append(number)


def _key(number: int) -> str:
    """Return what the generation of a number is written down under, while no session has it."""
    return f"{NUMBER} {number}"
