"""One context that is watched by REAP, on a virtual clock, with the peer in the hands of the test."""

from __future__ import annotations

import random

from shim6.network import A1, A2, B1, B2

from wayname.session.keys import Pair, SessionKey
from wayname.session.reap.outputs import Output, RoundTrip
from wayname.session.reap.reap import Reap
from wayname.session.reap.states import State
from wayname.session.reap.timing import Timing
from wayname.shim6.outputs import Send
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.messages import Probe, ProbeRecord, ProbeState, decode

NAME = SessionKey(A1, B1)
PAIRS = [Pair(A1, B1), Pair(A1, B2), Pair(A2, B1), Pair(A2, B2)]
FINE, EXPLORING, INBOUND = State.OPERATIONAL, State.EXPLORING, State.INBOUND_OK
TAG = 0x1234
TIMING = Timing.of(15.0, backup_probe_interval=1e6)


class One:
    """A context alone, with the peer in the hands of the test."""

    def __init__(self, timing: Timing = TIMING, most_probes: int = 1000, answers_checks: bool = True) -> None:
        self.now = 100.0
        self.reap = Reap(random.Random(5), most_probes)
        self.reap.watch(NAME, TAG, timing, PAIRS, PAIRS[0], self.now, answers_checks=answers_checks)
        self.outputs: list[Output] = []

    @property
    def state(self) -> State:
        """The state of the context."""
        watched = self.reap.watched(NAME)
        assert watched is not None
        return watched.state

    def take(self) -> list[Packet]:
        """Return the packets that left; what else came out is kept, but for how long answers took."""
        outputs = self.reap.take_outputs()
        self.outputs += [output for output in outputs if not isinstance(output, Send | RoundTrip)]
        return [output.packet for output in outputs if isinstance(output, Send)]

    def probes(self) -> list[Probe]:
        """Return the probes that left."""
        messages = [decode(packet.payload) for packet in self.take()]
        return [message for message in messages if isinstance(message, Probe)]

    def wait(self, seconds: float) -> list[Probe]:
        """Let time pass; return the probes that left."""
        end, probes = self.now + seconds, self.probes()
        while (at := self.reap.next_timer()) is not None and at <= end:
            self.now = max(at, self.now)
            self.reap.handle_timer(self.now)
            probes += self.probes()
        self.now = end
        return probes

    def hear(self, state: ProbeState, pair: Pair, *reports: Probe, nonce: int = 77) -> list[Probe]:
        """Let a probe of the peer arrive; return those that left."""
        record = ProbeRecord(pair.peer, pair.local, nonce)
        message = Probe(TAG, state, (record,), tuple(probe.sent[0] for probe in reports))
        self.reap.receive(NAME, message, pair, self.now)
        return self.probes()

    def answer_checks(self) -> None:
        """Verify all pairs."""
        for probe in self.wait(1):
            if probe.state is ProbeState.OPERATIONAL and not probe.received:
                self.hear(ProbeState.OPERATIONAL, PAIRS[0], probe)


def pair_of(probe: Probe) -> Pair:
    """Return the pair that a probe says it went by."""
    return Pair(probe.sent[0].source, probe.sent[0].destination)
