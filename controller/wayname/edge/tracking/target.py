"""What one target says of a provider: probes that wait for their answers, loss, delay, and whether it is up."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice

from wayname.config.track import Track, TrackTarget
from wayname.edge.tracking.probes import Answer, Probe
from wayname.wire.ipv6 import Packet

# Loss and delay are those of so many last probes, and count once there are half as many since the last change.
WINDOW = 20


@dataclass(frozen=True, slots=True)
class _Sent:
    probe: Probe
    at: float


class TrackedTarget:
    """A target of one provider; it is up until it fails."""

    def __init__(self, target: TrackTarget, rules: Track, is_up: bool) -> None:
        self.target = target
        self.is_up = is_up
        # Why it is down, in words.
        self.why = "" if is_up else "it was down when the controller began"
        self._rules = rules
        self._waiting: deque[_Sent] = deque()
        # Round trips in seconds, the last one at the end; None is lost.
        self._round_trips: deque[float | None] = deque(maxlen=WINDOW)
        self._since_change = 0
        self._lost_in_a_row = 0
        self._answered_in_a_row = 0
        # When the first of the probes that were lost in a row was sent.
        self._silent_since: float | None = None

    @property
    def loss(self) -> float | None:
        """The part of the last probes that was lost; None before the first one is decided."""
        return self._loss(len(self._round_trips))

    @property
    def delay(self) -> float | None:
        """The mean round trip of the last probes that were answered."""
        return self._delay(len(self._round_trips))

    def sent(self, probe: Probe, now: float) -> None:
        """Wait for the answer to a probe."""
        self._waiting.append(_Sent(probe, now))

    def next_loss(self) -> float | None:
        """Return when the first probe that waits is lost."""
        return self._waiting[0].at + self._rules.timeout if self._waiting else None

    def forget_waiting(self) -> None:
        """Probes that are under way count for nothing: nobody can say what became of their answers."""
        self._waiting.clear()

    def lose_due(self, now: float, why: str) -> None:
        """Count the probes whose time is over; `why` says what keeps their answers, if that is known."""
        while self._waiting and self._waiting[0].at + self._rules.timeout <= now:
            at = self._waiting.popleft().at
            since = at if self._silent_since is None else self._silent_since
            silence = f"has not answered for {now - since:.1f} s"
            self._lost(at, f"{silence} ({why})" if why else silence)

    def answered(self, arrived: Packet, now: float) -> Answer | None:
        """Take an answer to a probe that waits; None if it is none."""
        for sent in self._waiting:
            answer = sent.probe.answered(arrived)
            if answer is not None:
                self._waiting.remove(sent)
                if answer.refusal:
                    self._lost(sent.at, answer.refusal)
                else:
                    self._arrived(now - sent.at)
                return answer
        return None

    def _arrived(self, round_trip: float) -> None:
        self._round_trips.append(round_trip)
        self._since_change += 1
        self._lost_in_a_row, self._silent_since = 0, None
        self._answered_in_a_row += 1
        recent = min(self._since_change, WINDOW)
        if self.is_up:
            self._judge_quality(recent)
        elif self._answered_in_a_row >= self._rules.up and not self._is_slow(self._rules.up):
            self._change(True, "")

    def _lost(self, at: float, why: str) -> None:
        if self._silent_since is None:
            self._silent_since = at
        self._round_trips.append(None)
        self._since_change += 1
        self._lost_in_a_row += 1
        self._answered_in_a_row = 0
        if self.is_up and self._lost_in_a_row >= self._rules.down:
            self._change(False, why)
        elif self.is_up:
            self._judge_quality(min(self._since_change, WINDOW))

    def _judge_quality(self, recent: int) -> None:
        if recent < WINDOW // 2:
            return
        loss = self._loss(recent)
        if loss is not None and loss * 100 >= self._rules.loss:
            self._change(False, f"lost {loss:.0%} of the last {recent} probes")
        elif self._is_slow(recent):
            self._change(False, f"takes {self._delay(recent):.3f} s to answer")

    def _is_slow(self, recent: int) -> bool:
        delay = self._delay(recent)
        return self._rules.delay is not None and delay is not None and delay > self._rules.delay

    def _loss(self, recent: int) -> float | None:
        return self._last(recent).count(None) / recent if recent else None

    def _delay(self, recent: int) -> float | None:
        answered = [each for each in self._last(recent) if each is not None]
        return sum(answered) / len(answered) if answered else None

    def _last(self, number: int) -> list[float | None]:
        return list(islice(reversed(self._round_trips), number))

    def _change(self, is_up: bool, why: str) -> None:
        self.is_up, self.why = is_up, why
        self._since_change = self._lost_in_a_row = self._answered_in_a_row = 0
