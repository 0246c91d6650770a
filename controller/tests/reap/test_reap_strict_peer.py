"""A peer that does what RFC 5534, section 6, says to the letter, and nothing else: no checks, no order of its own."""

from __future__ import annotations

import random
from itertools import product

import pytest
from reap.world import DELAY, NO_NEXT, PAYLOAD, World
from shim6.network import A1, A2, B1, B2

from wayname.session.keys import Pair
from wayname.session.reap.outputs import Move, Refused
from wayname.session.reap.states import State
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import Keepalive, Probe, ProbeRecord, ProbeState, decode, encode

OPERATIONAL, EXPLORING, INBOUND = ProbeState.OPERATIONAL, ProbeState.EXPLORING, ProbeState.INBOUND_OK
TAG = 0xA


class Strict:
    """The host B, at the world's end of side B; it begins each exploration with the pair in use."""

    def __init__(self, world: World, send_timeout: float) -> None:
        self.world = world
        self.timeout = send_timeout
        self.pairs = [Pair(*pair) for pair in product((B1, B2), (A1, A2))]
        self.pair = self.pairs[0]
        self.state = OPERATIONAL
        self.turn = 0
        self.sent: dict[int, Pair] = {}
        self.received: list[ProbeRecord] = []
        self.arrivals: list[float] = []
        self.moves = 0
        self.answer_due: float | None = None
        self.keep: float | None = None
        self._chance = random.Random(4)
        self._tick()

    def send(self) -> None:
        """Section 6.2."""
        if self.state is not EXPLORING:
            self._start_send()
        self.keep = None
        self.world.transmit(Packet(self.pair.local, self.pair.peer, NO_NEXT, PAYLOAD))

    def take(self, packet: Packet) -> None:
        """Sections 6.1, 6.6 to 6.9."""
        message = decode(packet.payload) if packet.next_header == SHIM6 else None
        if not isinstance(message, Probe):
            self.arrivals += [self.world.now] if message is None else []
            if self.state is EXPLORING:
                self.state = INBOUND
                self._probe(self._next())
                self._start_send()
            else:
                self.answer_due = None
                if self.state is OPERATIONAL and self.keep is None and message is None:
                    self.keep = self.world.now + self.timeout / 3
            return
        self.received = [message.sent[0], *self.received][:15]
        if message.state is EXPLORING:
            if self.state is OPERATIONAL:
                self.received, self.turn = self.received[:1], 0
                self.world.at(self.world.now + self.timeout / 4, self._retransmit)
            self.state, self.keep = INBOUND, None
            self._probe(Pair(packet.destination, packet.source))
            self.answer_due = self.world.now + self.timeout
        elif message.state is INBOUND:
            self._choose(message)
            self.state, self.keep = OPERATIONAL, None
            self._probe(self.pair)
            self.answer_due = self.world.now + self.timeout
        else:
            if self.state is not OPERATIONAL:
                self._choose(message)
            self.state, self.answer_due = OPERATIONAL, None
            self.keep = self.keep or self.world.now + self.timeout / 3

    def _choose(self, message: Probe) -> None:
        reported = [self.sent[record.nonce] for record in message.received if record.nonce in self.sent]
        if reported and self.pair not in reported:
            self.pair = reported[0]
            self.moves += 1

    def _start_send(self) -> None:
        self.answer_due = self.answer_due or self.world.now + self.timeout

    def _next(self) -> Pair:
        self.turn += 1
        return self.pairs[(self.pairs.index(self.pair) + self.turn - 1) % len(self.pairs)]

    def _probe(self, pair: Pair) -> None:
        nonce = self._chance.getrandbits(32)
        self.sent[nonce] = pair
        record = ProbeRecord(pair.local, pair.peer, nonce)
        received = () if self.state is EXPLORING else tuple(self.received)
        octets = encode(Probe(TAG, self.state, (record,), received))
        self.world.transmit(Packet(pair.local, pair.peer, SHIM6, octets))

    def _tick(self) -> None:
        """Twenty times a send timeout: timers, and probes that are sent again, at a fixed rate for simplicity."""
        now = self.world.now
        if self.answer_due is not None and now >= self.answer_due and self.state is not EXPLORING:
            if self.state is OPERATIONAL:
                self.received.clear()
            self.state, self.answer_due, self.keep, self.turn = EXPLORING, None, None, 0
            self._retransmit()
        if self.keep is not None and now >= self.keep:
            self.keep = now + self.timeout / 3
            self.world.transmit(Packet(self.pair.local, self.pair.peer, SHIM6, encode(Keepalive(TAG))))
        self.world.at(now + self.timeout / 20, self._tick)

    def _retransmit(self) -> None:
        if self.state is OPERATIONAL:
            return
        self._probe(self._next())
        if self.state is INBOUND:
            self._start_send()
        self.world.at(self.world.now + self.timeout / 4, self._retransmit)


class MixedWorld(World):
    """Side A is ours; B is strict."""

    def __init__(self, seed: int = 1, send_timeout: float = 1.0) -> None:
        super().__init__(seed, send_timeout)
        self.b.reap.forget(self.b.name)
        watched = self.a.reap.watched(self.a.name)
        assert watched is not None
        watched.answers_checks = False
        self.strict = Strict(self, send_timeout)

    def _arrive(self, packet: Packet) -> None:
        if packet.destination in (B1, B2):
            self.strict.take(packet)
        else:
            super()._arrive(packet)

    def strict_traffic(self, every: float) -> None:
        """Let the strict host send all the time."""
        self.strict.send()
        self.at(self.now + every, lambda: self.strict_traffic(every))


def test_our_checks_are_answered_and_lead_a_strict_peer_nowhere() -> None:
    world = MixedWorld()
    world.traffic(world.a, 0.05, world.now + 60)
    world.strict_traffic(0.05)
    world.run(60)
    assert len(world.a.reap.verified(world.a.name)) == 4
    assert (world.strict.state, world.strict.moves) == (OPERATIONAL, 0)
    assert not world.a.of(Move)
    assert not world.a.of(Refused)


def test_a_session_that_goes_quiet_after_checks_is_not_explored_by_a_strict_peer() -> None:
    world = MixedWorld()
    world.traffic(world.a, 0.05, world.now + 5)
    world.run(5)
    world.run(60)
    told = [decode(packet.payload) for _, packet in world.probes if packet.source in (B1, B2)]
    assert EXPLORING not in {probe.state for probe in told if isinstance(probe, Probe)}
    assert world.strict.state is OPERATIONAL
    assert world.a.state is State.OPERATIONAL


def test_a_cut_is_bridged_with_a_strict_peer() -> None:
    world = MixedWorld()
    world.traffic(world.a, 0.02, world.now + 60)
    world.strict_traffic(0.02)
    world.run(3)
    cut = world.now
    world.cut_provider(A1)
    world.run(5)
    assert min(at for at in world.strict.arrivals if at > cut + 2 * DELAY) <= cut + 1.0 + 4 * DELAY + 0.04
    assert min(at for at in world.a.arrivals if at > cut + 2 * DELAY) <= cut + 1.0 + 4 * DELAY + 0.04
    assert (world.a.state, world.strict.state) == (State.OPERATIONAL, OPERATIONAL)
    assert (world.a.switch.path.local, world.strict.pair.peer) == (A2, A2)


@pytest.mark.parametrize("seed", range(12))
def test_both_find_each_other_whatever_is_cut(seed: int) -> None:
    world = MixedWorld(seed)
    world.traffic(world.a, 0.05, world.now + 100)
    world.strict_traffic(0.05)
    for _ in range(4):
        world.loss = world.chance.choice([0.0, 0.2])
        every = [*world.a.pairs, *world.strict.pairs]
        world.cut = set(world.chance.sample(every, world.chance.randint(0, 7)))
        world.run(world.chance.uniform(0.5, 6))
    world.loss = 0.0
    ways = (world.chance.choice(world.a.pairs), world.chance.choice(world.strict.pairs))
    world.cut = {*world.a.pairs, *world.strict.pairs} - set(ways)
    world.run(20)
    assert (world.a.switch.path, world.strict.pair) == ways
    assert (world.a.state, world.strict.state) == (State.OPERATIONAL, OPERATIONAL)
    assert not world.a.of(Refused)
