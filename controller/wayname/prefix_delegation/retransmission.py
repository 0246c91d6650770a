"""When a message that nobody answers is sent again (RFC 8415, section 15; the figures are those of section 7.6)."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class Schedule:
    """In seconds: the first wait, the longest one, how often at most, and for how long at most."""

    first: float
    longest: float
    times: float = inf
    duration: float = inf


SOL_MAX_DELAY = 1.0
SOLICIT = Schedule(1.0, 3600.0)
REQUEST = Schedule(1.0, 30.0, times=10)
RENEW = Schedule(10.0, 600.0)
REBIND = Schedule(10.0, 600.0)
# A Rebind that asks whether all is as before has the times of a Confirm (section 18.2.12).
VERIFY = Schedule(1.0, 4.0, duration=10.0)


class Retransmission:
    """One message that is sent until it is answered or given up."""

    def __init__(self, schedule: Schedule, rng: random.Random, began: float, is_first_longer: bool = False) -> None:
        self.schedule = schedule
        self.began = began
        self.sent = 0
        self.due = began
        self._rng = rng
        self._wait = 0.0
        # All waits of a Solicit are longer than said, so that several servers can answer the first.
        self._is_first_longer = is_first_longer

    def is_given_up(self, now: float) -> bool:
        """Whether it is not to be sent any more."""
        return self.sent >= self.schedule.times or now - self.began >= self.schedule.duration

    def note_sent(self, now: float) -> None:
        """It was sent now; find out when it is due again."""
        schedule = self.schedule
        if not self.sent:
            self.began = now
            self._wait = schedule.first * (
                1 + (self._rng.uniform(1e-6, 0.1) if self._is_first_longer else self._random())
            )
        else:
            self._wait = self._wait * (2 + self._random())
            if self._wait > schedule.longest:
                self._wait = schedule.longest * (1 + self._random())
        self.sent += 1
        self.due = min(now + self._wait, self.began + schedule.duration)

    def elapsed(self, now: float) -> int:
        """Return the time since it was sent first, in hundredths of a second, as the option has it (section 21.9)."""
        return min(int((now - self.began) * 100), 0xFFFF) if self.sent else 0

    def _random(self) -> float:
        return self._rng.uniform(-0.1, 0.1)
