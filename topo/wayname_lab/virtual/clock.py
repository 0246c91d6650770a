"""The virtual clock: things happen in the order of their times, and no time passes between them."""

import heapq
from collections.abc import Callable

MILLISECOND = 1_000_000
SECOND = 1_000_000_000


class Clock:
    """Nanoseconds that pass when nothing is left to do before."""

    def __init__(self) -> None:
        self.now = 0
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._number = 0

    def at(self, time: int, action: Callable[[], None]) -> None:
        """Let something happen; of two things at one time the first that was asked for comes first."""
        self._number += 1
        heapq.heappush(self._due, (max(time, self.now), self._number, action))

    def next_due(self) -> int | None:
        """Return when the next thing happens."""
        return self._due[0][0] if self._due else None

    def run_until(self, time: int) -> None:
        """Let everything happen that is due up to then."""
        while self._due and self._due[0][0] <= time:
            self.now, _, action = heapq.heappop(self._due)
            action()
        self.now = max(self.now, time)


class Alarm:
    """One wake-up of a node: setting it again replaces the time."""

    def __init__(self, clock: Clock, action: Callable[[], None]) -> None:
        self._clock = clock
        self._action = action
        self._time: int | None = None

    def set(self, time: int | None) -> None:
        """Wake at this time, or not at all."""
        if time == self._time:
            return
        self._time = time
        if time is not None:
            self._clock.at(time, lambda: self._ring(time))

    def _ring(self, time: int) -> None:
        # One that was replaced rings for nobody.
        if time == self._time:
            self._time = None
            self._action()
