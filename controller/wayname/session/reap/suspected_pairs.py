"""Asks by the pair in use before silence there counts as a failure: a lost packet, or a slow host, moves nobody.

    0                        0.5    0.575  0.65            1 send timeout
    a packet leaves          probe  probe  probe           it is left, unless one of the probes was answered
    |-- a round trip --|     |--- a round trip ---|

A probe that the peer reports shows that both directions work, and the switch is told so: it sees no probes itself.
"""

from __future__ import annotations

from wayname.session.keys import SessionKey
from wayname.session.reap.outputs import Answered, Output
from wayname.session.reap.prober import Prober
from wayname.session.reap.rate import ProbeRate
from wayname.session.reap.reap_context import Clock, ReapContext, Sent
from wayname.session.reap.states import State
from wayname.timers import Timers

PROBES = 3


class SuspectedPairs:
    """The pairs in use of all contexts, as far as they are silent."""

    def __init__(
        self, timers: Timers[tuple[SessionKey, Clock]], prober: Prober, probes: ProbeRate, outputs: list[Output]
    ) -> None:
        self._timers = timers
        self._prober = prober
        self._probes = probes
        self._outputs = outputs

    def begin(self, watched: ReapContext, now: float) -> None:
        """A packet has had no answer for long; one exploration is enough, and one suspicion."""
        if watched.state is State.OPERATIONAL and self._timers.at((watched.name, Clock.SUSPICION)) is None:
            watched.suspected, watched.suspicions = now, 0
            self.handle(watched, now)

    def handle(self, watched: ReapContext, now: float) -> None:
        """Send the next probe."""
        if self._probes.is_free(now):
            self._prober.check(watched, watched.current, now)
        watched.suspicions += 1
        if watched.suspicions < PROBES:
            self._timers.set((watched.name, Clock.SUSPICION), now + watched.timing.suspect_every)

    def answered(self, watched: ReapContext, sent: Sent) -> None:
        """The peer reports a probe."""
        if sent.pair == watched.current and watched.suspected is not None and sent.at >= watched.suspected:
            self.end(watched)
            self._outputs.append(Answered(watched.name))

    def end(self, watched: ReapContext) -> None:
        """Nothing is suspected any more."""
        watched.suspected = None
        self._timers.cancel((watched.name, Clock.SUSPICION))
