"""Numbers of sessions: places in the switch's registers.

A register still holds what the last session of its number left there. Its generation says so: a session that takes over
the number goes on counting, so the switch sees that it is another one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from wayname.edge.boundary import Json
from wayname.edge.outputs import Outputs
from wayname.edge.sessions.memory import NUMBER, number_key
from wayname.edge.sessions.session import GENERATIONS


class Numbers:
    """Gives numbers from 1 on, the one that was free for longest first when all were used."""

    def __init__(self, most: int, remembered: Mapping[str, Json], outputs: Outputs) -> None:
        self._most = most
        self._outputs = outputs
        self._highest = 0
        self._freed: deque[int] = deque()
        self._taken: set[int] = set()
        self._generations: dict[int, int] = {}
        for key, generation in remembered.items():
            kind, _, number = key.partition(" ")
            if kind == NUMBER and isinstance(generation, int):
                self._generations[int(number)] = generation
                self._freed.append(int(number))
                self._highest = max(self._highest, int(number))

    def take(self) -> tuple[int, int] | None:
        """Return a number and the generation that its session begins with; None if there is none left."""
        while self._highest < self._most:
            self._highest += 1
            if self._highest not in self._taken:
                self._taken.add(self._highest)
                return self._highest, 1
        if not self._freed:
            return None
        number = self._freed.popleft()
        self._taken.add(number)
        self._outputs.remember(number_key(number), None)
        return number, (self._generations.pop(number) + 1) % GENERATIONS

    def keep(self, number: int) -> None:
        """Take the number of a session of an earlier controller."""
        self._taken.add(number)

    def free(self, number: int, generation: int) -> None:
        """Take a number back."""
        self._taken.remove(number)
        self._freed.append(number)
        self._generations[number] = generation
        self._outputs.remember(number_key(number), generation)
