"""Finds out by which pairs of locators peers are reached (RFC 5534), without sockets, clock or threads.

The switch sees all packets, so it detects and, where it has a verified pair, reacts; here it is proved and decided.

reap.watch(...)              a context stands, or something about it is new
reap.unanswered(...)         and others: what the switch says
reap.receive(...)            a probe
reap.doubt(...)              something that proves nothing, such as an ICMPv6 error
reap.take_outputs()          afterwards: packets to send, and what became known
reap.next_timer()            when to call handle_timer(now) at the latest; None is never
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from wayname.session.keys import Pair, SessionKey
from wayname.session.reap.backup_probes import BackupProbes
from wayname.session.reap.failed_prefixes import FailedPrefixes
from wayname.session.reap.machine import Machine, Sign
from wayname.session.reap.order import disjoint_first
from wayname.session.reap.outputs import Check, Dropped, KeepaliveWanted, Move, Output, RoundTrip
from wayname.session.reap.prober import Prober
from wayname.session.reap.rate import ProbeRate
from wayname.session.reap.reap_context import MOST_ROUND_TRIPS, Clock, PairState, ReapContext, Sent
from wayname.session.reap.states import State, Trigger
from wayname.session.reap.suspected_pairs import SuspectedPairs
from wayname.session.reap.timing import Timing
from wayname.timers import Timers
from wayname.wire.shim6.messages import Keepalive, Message, Probe, ProbeState

# Of all contexts together, a second; a burst of as many.
MOST_PROBES = 1000
# A check that comes a moment too early would have to be repeated.
MARGIN = 0.001


class Reap:
    """Reachability for all contexts of an edge."""

    def __init__(self, rng: random.Random, most_probes: int = MOST_PROBES) -> None:
        self._rng = rng
        self._watched: dict[SessionKey, ReapContext] = {}
        self._timers: Timers[tuple[SessionKey, Clock]] = Timers()
        self._outputs: list[Output] = []
        prober = Prober(self._outputs, rng)
        probes, answers = ProbeRate(most_probes, most_probes), ProbeRate(most_probes, most_probes)
        self._prober = prober
        self._checks = BackupProbes(self._timers, prober, probes, self._outputs, rng)
        self._failures = FailedPrefixes()
        self._suspicions = SuspectedPairs(self._timers, prober, probes, self._outputs)
        self._machine = Machine(self._timers, prober, self._checks, probes, answers, self._outputs, rng)

    def watch(
        self,
        name: SessionKey,
        peer_tag: int,
        timing: Timing,
        pairs: Sequence[Pair],
        current: Pair,
        now: float,
        *,
        returning: bool = False,
        answers_checks: bool = True,
        also_used: frozenset[Pair] = frozenset(),
    ) -> None:
        """Look after a context: its pairs, the preferred one first, and the one that its set-up showed to work.

        Called again, it tells what is new, and the pair that packets go by now. If that is gone, they are to go by a
        verified one, or else stay where they are until one is found: a peer that says it is elsewhere may not be.
        The first time, `returning` tells whether packets are to go back to the preferred pair when it works. An edge
        answers checks; other peers do what RFC 5534 says. Flows that go by pairs `also_used` make all pairs in use be
        probed as often as keepalives are due.
        """
        watched = self._watched.get(name)
        if watched is None:
            ways = {pair: PairState(pair, now + self._rng.uniform(0, timing.probe_timeout)) for pair in pairs}
            watched = ReapContext(name, peer_tag, timing, current, ways, now, answers_checks=answers_checks)
            watched.returning = returning
            self._watched[name] = watched
            if current in ways:
                ways[current].verified, ways[current].since = True, now
                watched.reached.add(current.peer)
            else:
                self._leave(watched, _gone(current), now)
        else:
            watched.peer_tag, watched.timing = peer_tag, timing
            self._look_sooner(watched, now)
            watched.answers_checks = answers_checks
            if list(watched.ways) != list(pairs):
                # Who is on the best pair there is goes to a better one that comes, or comes back, when that works.
                was_best = watched.current == watched.preferred
                watched.set_pairs(pairs, now)
                watched.returning |= was_best and current != watched.preferred
                watched.order = tuple(pair for pair in watched.order if pair in watched.ways)
                watched.order += tuple(pair for pair in pairs if pair not in watched.order)
            if current in watched.ways and current.peer in watched.reached:
                self._go_to(watched, current, "its path was changed", now)
            else:
                watched.current = current
                why = _unproven(current) if current in watched.ways else _gone(current)
                self._leave(watched, why, now)
        if watched.also_used != also_used:
            # Most have none, and share one empty set: Python makes a new one each time.
            watched.also_used = also_used
        self._checks.resume(watched, now)

    def set_timing(self, name: SessionKey, timing: Timing, now: float) -> None:
        """Go by other times from now on."""
        watched = self._watched.get(name)
        if watched is not None:
            watched.timing = timing
            self._look_sooner(watched, now)

    def forget(self, name: SessionKey) -> None:
        """Look after a context no more."""
        if self._watched.pop(name, None) is not None:
            for clock in Clock:
                self._timers.cancel((name, clock))

    def watched(self, name: SessionKey) -> ReapContext | None:
        """Return what is known of a context, to look at."""
        return self._watched.get(name)

    def verified(self, name: SessionKey) -> frozenset[Pair]:
        """Return the pairs that are proven to work."""
        watched = self._watched.get(name)
        return watched.verified if watched is not None else frozenset()

    def take_outputs(self) -> list[Output]:
        """Return what came out since the last call, in order."""
        outputs = self._outputs[:]
        self._outputs.clear()
        return outputs

    def moved(self, name: SessionKey, pair: Pair, now: float) -> None:
        """Somebody moved a context to another pair: it stays there, if it works."""
        watched = self._watched.get(name)
        if watched is not None:
            watched.returning = False
            self._go_to(watched, pair, "its path was changed", now)

    def displaced(self, name: SessionKey, now: float) -> None:
        """The pair in use could not stay, for want of a way out: packets go back to the preferred one when it works."""
        watched = self._watched.get(name)
        if watched is not None:
            watched.returning, watched.moved = True, now

    def awaiting(self, name: SessionKey, age: float, now: float) -> None:
        """The switch: a packet waits for an answer since `age` (WATCH); it looks again only when it is told to."""
        watched = self._watched.get(name)
        if watched is not None:
            self._checks.note_activity(watched, now)
            if age >= watched.timing.suspect_after:
                if self._leave_with_others(watched, age, now):
                    return
                self._suspicions.begin(watched, now)
            self._look_again(watched, age, now)
            keepalive = self._timers.at((name, Clock.AFTER_PROBE))
            if keepalive is not None and now - age >= keepalive - watched.timing.keepalive:
                self._timers.cancel((name, Clock.AFTER_PROBE))

    def silent(self, name: SessionKey, age: float, now: float) -> None:
        """The switch: the peer is heard since `age`, and nothing was sent (SILENT); the host still may, in time."""
        watched = self._watched.get(name)
        if watched is not None:
            self._checks.note_activity(watched, now)
            self._timers.set((name, Clock.KEEPALIVE), now + max(watched.timing.keepalive - age, 0) + MARGIN)

    def unanswered(self, name: SessionKey, age: float, now: float) -> bool:
        """The switch: nothing answers, and there is no backup (UNANSWERED); tell whether that is of the pair in use."""
        watched = self._watched.get(name)
        if watched is None:
            return False
        self._checks.note_activity(watched, now)
        if _is_of_way_before(watched, age, now) and now < watched.moved + watched.timing.send_timeout:
            return False
        sign = Sign(f"no answer for {age:.3f} s", failed=watched.current)
        self._machine.fire(watched, Trigger.UNANSWERED, sign, now)
        return True

    def left_path(self, name: SessionKey, left: Pair, to: Pair, age: float, now: float) -> bool:
        """The switch: nothing answers, and packets go by a backup (LEFT_PATH): make sure of it, and tell the peer.

        Tell whether they still do: they may have been moved again before this became known.
        """
        watched = self._watched.get(name)
        if watched is None:
            return False
        self._checks.note_activity(watched, now)
        why = f"no answer for {age:.3f} s"
        if left != watched.current and _is_of_way_before(watched, age, now):
            self._checks.fail(watched, left, why, now)
            return False
        self._suspicions.end(watched)
        watched.current = to
        watched.returning, watched.moved = to != watched.preferred, now
        if left != to:
            self._failures.fail(left, now)
            self._checks.fail(watched, left, why, now)
        self._look_again(watched, 0.0, now)
        self._machine.fire(watched, Trigger.LEFT_PATH, Sign(why, works=to, failed=left if left != to else None), now)
        return True

    def followed(self, name: SessionKey, to: Pair, now: float) -> None:
        """The switch: the peer went to another pair, and packets from here with it (FOLLOWED)."""
        watched = self._watched.get(name)
        if watched is not None:
            # A peer that does not come along on the way back cannot yet: that is tried again.
            came_back = now < watched.went_back + watched.timing.failback_delay
            watched.returning = came_back and to != watched.preferred
            self._checks.note_activity(watched, now)
            if to.peer not in watched.reached:
                # It may be a third party that the peer wants to have flooded.
                self._outputs.append(Move(name, watched.current, _unproven(to)))
            elif to in watched.failed and watched.current in watched.verified:
                why = f"the peer changed its path, but it is not reached by {to.local} to {to.peer}"
                self._outputs.append(Move(name, watched.current, why))
            else:
                if watched.current == watched.preferred != to:
                    # A peer leaves the best pair when that is dead: silent sessions beside it need no more proof.
                    self._failures.fail(watched.current, now)
                self._go_to(watched, to, "the peer changed its path", now)

    def heard(self, name: SessionKey, now: float) -> None:
        """The switch: a packet of the peer came (HEARD)."""
        watched = self._watched.get(name)
        if watched is not None:
            self._machine.fire(watched, Trigger.HEARD, Sign("the peer is heard again"), now)

    def doubt(self, name: SessionKey, why: str, now: float) -> None:
        """Something proves nothing, but hints that the pair in use fails: probe it, and explore only if that fails."""
        watched = self._watched.get(name)
        if watched is not None:
            self._machine.fire(watched, Trigger.DOUBT, Sign(why), now)

    def receive(self, name: SessionKey, message: Message, pair: Pair, now: float) -> None:
        """Take a keepalive or a probe of a context."""
        watched = self._watched.get(name)
        if watched is None:
            return
        match message:
            case Keepalive():
                self._machine.fire(watched, Trigger.HEARD, Sign("the peer is heard again"), now)
            case Probe():
                self._take_probe(watched, message, pair, now)

    def next_timer(self) -> float | None:
        """Return when to call handle_timer at the latest."""
        return self._timers.next()

    def handle_timer(self, now: float, late: float = 0.0) -> None:
        """Do what is due; in a turn that is `late` no peer is found silent: what would do so is asked again."""
        for name, clock in self._timers.due(now):
            watched = self._watched[name]
            is_late = watched.timing.is_late(late)
            match clock:
                case Clock.SEND if is_late:
                    self._timers.set((name, clock), now + watched.timing.probe_timeout)
                case Clock.CHECK if is_late:
                    # The switch would leave the pair, and nobody has asked the peer.
                    self._suspicions.begin(watched, now)
                    self._timers.set((name, clock), now + watched.timing.suspect_after)
                case Clock.PROBE:
                    self._machine.fire(watched, Trigger.RETRANSMIT, Sign(), now)
                case Clock.SEND:
                    self._machine.fire(watched, Trigger.SEND_TIMEOUT, Sign("the peer is not heard any more"), now)
                case Clock.DOUBT:
                    self._machine.handle_doubt(watched, now, is_late)
                case Clock.VERIFY:
                    if self._checks.handle(watched, now, is_late):
                        why = "flows go by several paths, and this one is checked"
                        self._machine.fire(watched, Trigger.DOUBT, Sign(why), now)
                case Clock.KEEPALIVE:
                    self._outputs.append(KeepaliveWanted(name))
                case Clock.AFTER_PROBE:
                    self._prober.keep_alive(watched)
                case Clock.CHECK:
                    self._outputs.append(Check(name))
                case Clock.SUSPICION:
                    self._suspicions.handle(watched, now)

    def _measure(self, watched: ReapContext, sent: Sent, now: float) -> None:
        """Take note of how long an answer took; reports of an exploration come again and again."""
        if sent.exploration is None:
            watched.round_trips = (*watched.round_trips, now - sent.at)[-MOST_ROUND_TRIPS:]
            if way := watched.ways.get(sent.pair):
                way.round_trip = now - sent.at
            self._outputs.append(RoundTrip(watched.name, max(watched.round_trips)))

    def _look_again(self, watched: ReapContext, age: float, now: float) -> None:
        timing = watched.timing
        if age < timing.suspect_after:
            wait = timing.suspect_after - age
        else:
            wait = max(timing.send_timeout - age, timing.suspect_after)
        self._timers.set((watched.name, Clock.CHECK), now + wait + MARGIN)

    def _look_sooner(self, watched: ReapContext, now: float) -> None:
        """Ask the switch after half of a send timeout that became shorter, not when the longer one demanded."""
        at = self._timers.at((watched.name, Clock.CHECK))
        if at is not None and at > now + watched.timing.suspect_after + MARGIN:
            self._look_again(watched, 0.0, now)

    def _leave_with_others(self, watched: ReapContext, age: float, now: float) -> bool:
        """Leave a silent pair at once if another session between its prefixes found it dead meanwhile."""
        silent_since, left = now - age, watched.current
        if watched.state is not State.OPERATIONAL or not self._failures.since(left, silent_since):
            return False
        works = (pair for pair in disjoint_first(watched.ways, left)[:-1] if watched.ways[pair].verified)
        to = next((pair for pair in works if not self._failures.since(pair, silent_since)), None)
        if to is None:
            return False
        why = f"no answer for {age:.3f} s, and another session found the path between its prefixes dead"
        self._suspicions.end(watched)
        watched.current, watched.moved, watched.returning = to, now, to != watched.preferred
        self._checks.fail(watched, left, why, now)
        self._look_again(watched, 0.0, now)
        self._machine.fire(watched, Trigger.LEFT_PATH, Sign(why, works=to, failed=left), now)
        # Probes tell the peer: they go before what may fill the path's queue.
        self._outputs.append(Move(watched.name, to, why, unanswered=age))
        return True

    def _go_to(self, watched: ReapContext, pair: Pair, why: str, now: float) -> None:
        """Take note of another pair in use; one that is not verified has to prove itself at once."""
        if watched.current == pair:
            return
        watched.current, watched.moved = pair, now
        if pair not in watched.verified:
            self._machine.fire(watched, Trigger.DOUBT, Sign(why), now)

    def _leave(self, watched: ReapContext, why: str, now: float) -> None:
        """Leave a pair that is gone."""
        pair = next((way.pair for way in watched.ways.values() if way.verified), None)
        if pair is None:
            if watched.state is State.OPERATIONAL:
                self._machine.fire(watched, Trigger.PAIR_FAILED, Sign(why, failed=watched.current), now)
            return
        watched.current, watched.moved, watched.returning = pair, now, pair != watched.preferred
        self._outputs.append(Move(watched.name, pair, why))

    def _take_probe(self, watched: ReapContext, message: Probe, pair: Pair, now: float) -> None:
        question = message.sent[0]
        if (question.source, question.destination) != (pair.peer, pair.local):
            reason = f"a probe from {pair.peer} to {pair.local} says that it went from "
            reason += f"{question.source} to {question.destination}"
            self._outputs.append(Dropped(watched.name, reason))
            return
        if pair in watched.ways:
            self._checks.heard(watched, watched.ways[pair], now)
        reported = self._prober.reported(watched, message)
        for sent in reported:
            # A report that comes again says nothing of today.
            if not sent.reported:
                self._checks.prove(watched, sent, now)
                self._suspicions.answered(watched, sent)
                self._measure(watched, sent, now)
        of_exploration = any(sent.exploration == watched.exploration for sent in reported)
        is_check = watched.answers_checks and message.state is ProbeState.OPERATIONAL and not message.received
        watched.peer_checks |= is_check
        if message.state is ProbeState.OPERATIONAL or pair == watched.current or watched.last_heard is None:
            watched.last_heard = question
        if is_check:
            trigger, why = Trigger.PROBE_UNREPORTING, "the peer is heard again"
        else:
            trigger, why = _meaning(watched.state, message, of_exploration)
        if watched.state is not State.OPERATIONAL or message.state is ProbeState.EXPLORING:
            watched.keep_received(question)
        sign = Sign(why, works=pair, question=question, reported=tuple(reported))
        self._machine.fire(watched, trigger, sign, now)


def _is_of_way_before(watched: ReapContext, age: float, now: float) -> bool:
    """Whether what was not answered since `age` left by another way than the one in use."""
    return now - age < watched.moved


def _gone(pair: Pair) -> str:
    return f"{pair.local} or {pair.peer} cannot be used: its prefix was withdrawn, or its provider is down"


def _unproven(pair: Pair) -> str:
    return f"nothing proves yet that the peer is reached at {pair.peer}"


def _meaning(state: State, message: Probe, of_exploration: bool) -> tuple[Trigger, str]:
    """Tell what a probe means for a context, in words too."""
    match message.state:
        case ProbeState.EXPLORING:
            return Trigger.PROBE_EXPLORING, "the peer does not hear this side"
        case ProbeState.INBOUND_OK if of_exploration:
            return Trigger.PROBE_INBOUND_OK, "the peer hears this side"
        case ProbeState.INBOUND_OK:
            return Trigger.PROBE_UNREPORTING, "the peer is heard again"
        case ProbeState.OPERATIONAL if state is State.OPERATIONAL or of_exploration or not message.received:
            return Trigger.PROBE_OPERATIONAL, "both sides hear each other"
        case _:
            # It answers a check from before this exploration.
            return Trigger.HEARD, "the peer is heard again"
