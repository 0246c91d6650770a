"""Somebody else wants what a holder has: the holder is asked first, and keeps it if it answers.

Whoever was turned down is not listened to for some seconds, so that nobody is asked more often than that.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from wayname.edge.first_hop_security.anchor import Anchor
from wayname.timers import Timers

# How often a holder is asked: as FCFS SAVI does it (RFC 6620, section 4: TENT_LT and T_WAIT).
QUESTIONS = 2
# Seconds in which a challenger that was turned down is not listened to.
TURNED_DOWN = 5.0
# How many holders are asked at once, in all and for challengers behind one port.
MOST_ASKED = 256
MOST_OF_PORT = 64
MOST_TURNED_DOWN = 4096

K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class _Challenge:
    challenger: Anchor | None
    asked: int = 0


class Challenges(Generic[K]):
    """`ask` sends a question to a holder; `gone` hears that no answer came, and who challenged it, if anybody did."""

    def __init__(
        self, interval: float, ask: Callable[[K], None], gone: Callable[[K, Anchor | None, float], None]
    ) -> None:
        self._interval = interval
        self._ask = ask
        self._gone = gone
        self._timers: Timers[K] = Timers()
        self._challenges: dict[K, _Challenge] = {}
        self._of_port: Counter[int] = Counter()
        self._turned_down: OrderedDict[tuple[K, Anchor], float] = OrderedDict()

    def __contains__(self, key: K) -> bool:
        return key in self._challenges

    def begin(self, key: K, challenger: Anchor | None, now: float) -> bool:
        """Ask a holder, unless it is asked already or there is too much to ask; return whether that begins."""
        if key in self._challenges or len(self._challenges) >= MOST_ASKED:
            return False
        if challenger is not None:
            if now < self._turned_down.get((key, challenger), now) or self._of_port[challenger.port] >= MOST_OF_PORT:
                return False
            self._of_port[challenger.port] += 1
        self._challenges[key] = _Challenge(challenger)
        self._put(key, now)
        return True

    def answered(self, key: K, now: float) -> Anchor | None:
        """The holder is there; return whom that turns down."""
        challenge = self._end(key)
        if challenge is None or challenge.challenger is None:
            return None
        self._turned_down.pop((key, challenge.challenger), None)
        self._turned_down[key, challenge.challenger] = now + TURNED_DOWN
        while len(self._turned_down) > MOST_TURNED_DOWN:
            self._turned_down.popitem(last=False)
        return challenge.challenger

    def forget(self, key: K) -> None:
        """There is nothing to be had any more."""
        self._end(key)

    def stop(self) -> None:
        """Nobody can be asked while the switch is away."""
        for key in list(self._challenges):
            self._end(key)

    def next_timer(self) -> float | None:
        """Return when the next question, or the end of one, is due."""
        return self._timers.next()

    def handle_timer(self, now: float, late: float) -> None:
        """Ask again or give up, but not in a late turn: the answer may be there, and nobody looked yet."""
        for key in self._timers.due(now):
            challenge = self._challenges[key]
            if challenge.asked < QUESTIONS or late > self._interval / 2:
                self._put(key, now)
            else:
                self._end(key)
                self._gone(key, challenge.challenger, now)

    def _put(self, key: K, now: float) -> None:
        self._challenges[key].asked += 1
        self._ask(key)
        self._timers.set(key, now + self._interval)

    def _end(self, key: K) -> _Challenge | None:
        challenge = self._challenges.pop(key, None)
        if challenge is not None:
            self._timers.cancel(key)
            if challenge.challenger is not None:
                self._of_port[challenge.challenger.port] -= 1
        return challenge
