"""Checks the pairs that are not in use, so that a backup is proven before it is needed, and goes back to the best one.

Nothing is checked while a context is idle, or while it explores.
"""

from __future__ import annotations

import random

from wayname.session.keys import Pair, SessionKey
from wayname.session.reap.outputs import Move, Output, Unverified, Verified
from wayname.session.reap.prober import Prober
from wayname.session.reap.rate import ProbeRate
from wayname.session.reap.reap_context import MOST_UNANSWERED, Clock, PairState, ReapContext, Sent
from wayname.session.reap.states import State
from wayname.session.reap.timing import JITTER
from wayname.timers import Timers

# The switch tells of an active session at least every two send timeouts.
IDLE_SEND_TIMEOUTS = 4
MOST_DOUBLINGS = 8
# How many send timeouts a way that worked may give no answer.
PATIENCE = 1.5


class BackupProbes:
    """The ways of all contexts that are not in use."""

    def __init__(
        self,
        timers: Timers[tuple[SessionKey, Clock]],
        prober: Prober,
        probes: ProbeRate,
        outputs: list[Output],
        rng: random.Random,
    ) -> None:
        self._timers = timers
        self._prober = prober
        self._probes = probes
        self._outputs = outputs
        self._rng = rng

    def resume(self, watched: ReapContext, now: float) -> None:
        """Check what is due, from now on."""
        due = [way.due for way in watched.ways.values() if way.pair != watched.current or _shares_flows(watched)]
        if watched.state is State.OPERATIONAL and due and not _is_idle(watched, now):
            self._timers.set((watched.name, Clock.VERIFY), max(min(due), now))

    def note_activity(self, watched: ReapContext, now: float) -> None:
        """The session is in use; if it was idle, checks go on."""
        watched.active = now
        if self._timers.at((watched.name, Clock.VERIFY)) is None:
            self.resume(watched, now)

    def handle(self, watched: ReapContext, now: float, is_late: bool) -> bool:
        """Check what is due now, and tell whether the pair in use is, beside which flows go by others.

        Checks whose answers may wait to be looked at do not count.
        """
        current_is_due = False
        for way in watched.ways.values():
            if way.due > now:
                continue
            if way.pair != watched.current:
                way.unanswered -= is_late and way.unanswered > 0
                self._check(watched, way, now)
            elif _shares_flows(watched):
                way.due = now + self._period(watched, way) * self._rng.uniform(*JITTER)
                current_is_due = True
        self.resume(watched, now)
        return current_is_due

    def prove(self, watched: ReapContext, sent: Sent, now: float) -> None:
        """The peer reports a probe by a pair."""
        sent.reported = True
        if sent.exploration is not None:
            self._forget_unanswered(watched, sent)
        watched.answered = max(watched.answered, sent.at)
        if sent.pair == watched.current and sent.at >= watched.doubted:
            watched.doubts = 0
            self._timers.cancel((watched.name, Clock.DOUBT))
        way = watched.ways.get(sent.pair)
        # One that left before the pair failed proves nothing.
        if way is None or sent.at <= way.failed:
            return
        way.unanswered = 0
        way.due = now + self._period(watched, way) * self._rng.uniform(*JITTER)
        if not way.verified:
            way.verified, way.since = True, now
            watched.reached.add(way.pair.peer)
            self._outputs.append(Verified(watched.name, way.pair))
        self._go_back(watched, way, now)

    def heard(self, watched: ReapContext, way: PairState, now: float) -> None:
        """The peer probes a pair: if it does not work from here, it may do so again."""
        way.heard = now
        if not way.verified and way.pair != watched.current:
            way.due = min(way.due, now + watched.timing.probe_timeout)
            self.resume(watched, now)

    def fail(self, watched: ReapContext, pair: Pair, why: str, now: float) -> None:
        """A pair does not work; look soon whether those beside it do, and from time to time whether it does again."""
        way = watched.ways.get(pair)
        if way is None:
            return
        if pair == watched.preferred:
            too_early = now < watched.went_back + self._return_after(watched)
            watched.relapses = watched.relapses + 1 if too_early else 0
        way.failed = now
        self._unverify(watched, way, why)
        way.due = now + watched.timing.probe_timeout
        for beside in watched.ways.values():
            if beside.pair.local == pair.local or beside.pair.peer == pair.peer:
                beside.due = min(beside.due, now + watched.timing.probe_timeout)

    def _check(self, watched: ReapContext, way: PairState, now: float) -> None:
        timing = watched.timing
        if way.unanswered == 0:
            way.asked = now
        # Answers come by the peer's way to here. If that failed no answer says anything about the way that was checked:
        # what was not answered counts once something that was asked later, by whichever way, was.
        in_doubt = now < way.asked + PATIENCE * timing.send_timeout or watched.answered <= way.missed
        if way.unanswered >= MOST_UNANSWERED and way.verified and not in_doubt:
            self._unverify(watched, way, f"{way.unanswered} probes were not answered")
            way.unanswered = MOST_UNANSWERED
        if not self._probes.is_free(now):
            way.due = now + timing.backup_probe_interval * self._rng.uniform(0, 1)
            return
        if not watched.answers_checks and watched.last_heard is None:
            # The peer answers by the pair that it was asked by, and a report of that must not lead it elsewhere.
            self._prober.check(watched, watched.current, now)
            way.due = now + timing.probe_timeout * self._rng.uniform(*JITTER)
            return
        self._prober.check(watched, way.pair, now)
        way.unanswered += 1
        if way.unanswered <= MOST_UNANSWERED:
            way.missed = now
        elif way.verified and watched.answered <= way.missed:
            self._prober.check(watched, watched.current, now)
        wait = timing.probe_timeout
        if way.unanswered > MOST_UNANSWERED and way.verified:
            # A peer whose controller is away answers nothing: it is not asked as often for ever.
            doublings = min(max(way.unanswered - 3 * MOST_UNANSWERED, 0), MOST_DOUBLINGS)
            wait = min(max(wait, timing.send_timeout / 8) * (1 << doublings), self._longest(watched))
        elif way.unanswered > MOST_UNANSWERED:
            wait = min(
                timing.backup_probe_interval * (1 << min(way.unanswered - MOST_UNANSWERED - 1, MOST_DOUBLINGS)),
                self._longest(watched),
            )
        way.due = now + wait * self._rng.uniform(*JITTER)

    def _forget_unanswered(self, watched: ReapContext, sent: Sent) -> None:
        """An exploration got an answer, the first one for long: the peer's way to here had failed.

        Of probes from before it nobody knows whether they or their answers were lost. Their pairs are asked anew.
        """
        for way in watched.ways.values():
            if way.unanswered and watched.answered <= way.missed < sent.at:
                way.unanswered = 0

    def _unverify(self, watched: ReapContext, way: PairState, why: str) -> None:
        if way.verified:
            way.verified = False
            self._outputs.append(Unverified(watched.name, way.pair, why))

    def _period(self, watched: ReapContext, way: PairState) -> float:
        """Return when to check again a pair that works: sooner if it is proving itself for the way back."""
        timing = watched.timing
        if way.pair in watched.also_used or (way.pair == watched.current and _shares_flows(watched)):
            return timing.keepalive
        if watched.returning and way.pair == watched.preferred:
            return min(timing.backup_probe_interval, timing.failback_delay / 2)
        return timing.backup_probe_interval

    def _return_after(self, watched: ReapContext) -> float:
        """Return how long the preferred pair must have worked: twice as long after each time that was not enough."""
        return watched.timing.failback_delay * (1 << min(watched.relapses, MOST_DOUBLINGS))

    def _longest(self, watched: ReapContext) -> float:
        return max(watched.timing.backup_probe_interval, watched.timing.max_probe_timeout)

    def _go_back(self, watched: ReapContext, way: PairState, now: float) -> None:
        if (
            watched.returning
            and watched.state is State.OPERATIONAL
            and way.pair == watched.preferred != watched.current
            and now >= way.since + self._return_after(watched)
            # The peer goes with us, so that it must be able to.
            and (way.heard > way.failed or not watched.peer_checks)
        ):
            watched.current = way.pair
            watched.moved = watched.went_back = now
            why = f"the preferred path has worked for {now - way.since:.0f} s"
            self._outputs.append(Move(watched.name, way.pair, why))


def _shares_flows(watched: ReapContext) -> bool:
    """Whether some flows go by another pair than the one in use."""
    return bool(watched.also_used - {watched.current})


def _is_idle(watched: ReapContext, now: float) -> bool:
    return now > watched.active + IDLE_SEND_TIMEOUTS * watched.timing.send_timeout
