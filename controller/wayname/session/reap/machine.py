"""Carries out what the rows of the state machine say (RFC 5534, section 6)."""

from __future__ import annotations

import random
from dataclasses import dataclass

from wayname.session.keys import Pair, SessionKey
from wayname.session.reap.backup_probes import BackupProbes
from wayname.session.reap.order import disjoint_first
from wayname.session.reap.outputs import Check, Entered, Move, Output, Refused
from wayname.session.reap.prober import Prober
from wayname.session.reap.rate import ProbeRate
from wayname.session.reap.reap_context import Clock, ReapContext, Sent
from wayname.session.reap.states import TRANSITIONS, Action, State, Trigger
from wayname.session.reap.timing import JITTER
from wayname.timers import Timers
from wayname.wire.shim6.messages import ProbeRecord

DOUBT_PROBES = 3
# Seconds in which the answer to a probe comes by nearly any path.
ANSWERED_WITHIN = 1.0


@dataclass(frozen=True, slots=True)
class Sign:
    """What was seen: in words, the pairs that it speaks for and against, and if it is a probe, what that says."""

    why: str = ""
    works: Pair | None = None
    failed: Pair | None = None
    question: ProbeRecord | None = None
    reported: tuple[Sent, ...] = ()


class Machine:
    """All contexts' state machines."""

    def __init__(
        self,
        timers: Timers[tuple[SessionKey, Clock]],
        prober: Prober,
        checks: BackupProbes,
        probes: ProbeRate,
        answers: ProbeRate,
        outputs: list[Output],
        rng: random.Random,
    ) -> None:
        self._timers = timers
        self._prober = prober
        self._checks = checks
        self._probes = probes
        self._answers = answers
        self._outputs = outputs
        self._rng = rng

    def fire(self, watched: ReapContext, trigger: Trigger, sign: Sign, now: float) -> None:
        """Follow a row."""
        before = watched.state
        row = TRANSITIONS[before].get(trigger)
        if row is None:
            self._outputs.append(Refused(watched.name, before, trigger))
            return
        # A probe tells the state that its sender is in afterwards (section 6.1).
        watched.state = row.state
        if before is State.EXPLORING and row.state is State.INBOUND_OK:
            watched.probes = 0
        for action in row.actions:
            self._do(action, watched, sign, now)
        if row.state is before:
            return
        if row.state is State.OPERATIONAL:
            self._cancel(watched, Clock.PROBE, Clock.SEND)
            self._checks.resume(watched, now)
        elif before is State.OPERATIONAL:
            self._cancel(watched, Clock.VERIFY)
        self._outputs.append(Entered(watched.name, row.state, sign.why))

    def handle_doubt(self, watched: ReapContext, now: float, is_late: bool) -> None:
        """The pair in use is doubted, and a probe of it was not answered yet; one that was late does not count."""
        watched.doubts -= is_late and watched.doubts > 0
        if watched.doubts < DOUBT_PROBES:
            self._probe_current(watched, now)
            return
        why = f"{watched.why}, and {watched.doubts} probes of the path were not answered"
        self.fire(watched, Trigger.PAIR_FAILED, Sign(why, failed=watched.current), now)

    def _do(self, action: Action, watched: ReapContext, sign: Sign, now: float) -> None:
        match action:
            case Action.BEGIN:
                self._begin(watched, sign, now)
            case Action.PROBE:
                self._probe(watched, now)
            case Action.PROBE_CURRENT:
                # Whoever forges signs of failures makes us send no more than this.
                if watched.doubts == 0 and now >= watched.doubted + watched.timing.keepalive:
                    watched.doubted, watched.why = now, sign.why
                    self._probe_current(watched, now)
            case Action.ANSWER:
                self._answer(watched, sign, now)
            case Action.CHOOSE:
                self._choose(watched, sign, now)
            case Action.START_SEND | Action.RESTART_SEND:
                running = self._timers.at((watched.name, Clock.SEND)) is not None
                if action is Action.RESTART_SEND or not running:
                    self._set(watched, Clock.SEND, now, watched.timing.send_timeout)
            case Action.STOP_SEND:
                self._cancel(watched, Clock.SEND)
            case Action.START_KEEPALIVE:
                if not watched.answers_checks and self._timers.at((watched.name, Clock.AFTER_PROBE)) is None:
                    self._timers.set((watched.name, Clock.AFTER_PROBE), now + watched.timing.keepalive)
                    # So the switch says when the host speaks next.
                    self._outputs.append(Check(watched.name))
            case Action.STOP_KEEPALIVE:
                self._cancel(watched, Clock.KEEPALIVE, Clock.AFTER_PROBE)

    def _begin(self, watched: ReapContext, sign: Sign, now: float) -> None:
        watched.exploration += 1
        watched.why, watched.suspect = sign.why, sign.failed or watched.current
        watched.order = disjoint_first(watched.ways, sign.failed or watched.current, sign.works)
        watched.turn = watched.probes = watched.doubts = 0
        watched.received = [sign.question] if sign.question is not None else []
        watched.last_heard = sign.question
        self._cancel(watched, Clock.DOUBT)
        if sign.failed is not None:
            self._checks.fail(watched, sign.failed, sign.why, now)

    def _probe(self, watched: ReapContext, now: float) -> None:
        """Probe the next pair, or wait for a turn among all contexts."""
        if not watched.order:
            self._wait_for_answer(watched, now)
            return
        at = now if watched.has_slot else self._probes.reserve(now)
        watched.has_slot = at > now
        if watched.has_slot:
            self._timers.set((watched.name, Clock.PROBE), at)
            return
        pair = watched.order[watched.turn % len(watched.order)]
        watched.turn += 1
        self._prober.explore(watched, pair, now)
        self._wait_for_answer(watched, now)

    def _probe_current(self, watched: ReapContext, now: float) -> None:
        if self._probes.is_free(now):
            watched.doubts += 1
            self._prober.check(watched, watched.current, now)
        self._set(watched, Clock.DOUBT, now, watched.timing.probe_timeout)

    def _answer(self, watched: ReapContext, sign: Sign, now: float) -> None:
        """One that is not sent because there are too many is asked for again."""
        pair = watched.current
        if watched.state is State.INBOUND_OK:
            # What arrived by this pair shows where an answer may pass (appendix A, example 4).
            if sign.works in watched.ways:
                pair = sign.works
            watched.turn = max(watched.turn, 1)
        if sign.question is not None and self._answers.is_free(now):
            self._prober.explore(watched, pair, now, sign.question)
        if watched.state is State.INBOUND_OK and self._timers.at((watched.name, Clock.PROBE)) is None:
            self._wait_for_answer(watched, now)

    def _wait_for_answer(self, watched: ReapContext, now: float) -> None:
        watched.probes += 1
        self._set(watched, Clock.PROBE, now, watched.timing.probe_interval(watched.probes))

    def _choose(self, watched: ReapContext, sign: Sign, now: float) -> None:
        """Take a pair that the peer reports a probe on: the one in use if it is among them, or else the best."""
        reported = {
            sent.pair for sent in sign.reported if sent.exploration == watched.exploration and sent.pair in watched.ways
        }
        if not reported or watched.current in reported or self._is_trusted_still(watched, now):
            return
        before = watched.current
        why = watched.why
        if before != watched.suspect:
            why = f"the peer got probes by other paths, and none by {before.local} to {before.peer}"
        watched.current = next(pair for pair in watched.order if pair in reported)
        self._checks.fail(watched, before, why, now)
        watched.returning, watched.moved = watched.current != watched.preferred, now
        self._outputs.append(Move(watched.name, watched.current, why))

    def _is_trusted_still(self, watched: ReapContext, now: float) -> bool:
        """Whether the switch has just gone to a proven pair; that of another pair may only be the quicker answer."""
        patience = min(watched.timing.send_timeout, ANSWERED_WITHIN)
        return watched.current in watched.verified and now < watched.moved + patience

    def _set(self, watched: ReapContext, clock: Clock, now: float, wait: float) -> None:
        self._timers.set((watched.name, clock), now + wait * self._rng.uniform(*JITTER))

    def _cancel(self, watched: ReapContext, *clocks: Clock) -> None:
        for clock in clocks:
            self._timers.cancel((watched.name, clock))
