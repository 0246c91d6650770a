"""Two sides that watch each other by REAP, the switches before them and the ways between, on a virtual clock."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count, product

from shim6.network import A1, A2, B1, B2

from wayname.session.keys import Pair, SessionKey
from wayname.session.reap.outputs import Answered, Check, Entered, KeepaliveWanted, Move, Output
from wayname.session.reap.reap import Reap
from wayname.session.reap.states import State
from wayname.session.reap.timing import Timing
from wayname.shim6.outputs import Send
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import Keepalive, Probe, decode, encode

NO_NEXT = 59
DELAY = 0.01
PAYLOAD = b"payload"
TAGS = {"A": 0xA, "B": 0xB}


@dataclass
class Switch:
    """What the tables do with the packets of one session."""

    side: Side
    path: Pair
    first_unanswered: float | None = None
    unreplied: float | None = None
    keepalive_due: float = float("-inf")
    watched_until: float = float("-inf")
    heard_on: Pair | None = None
    backups: dict[Pair, Pair] = field(default_factory=dict)
    reports: bool = False

    def send(self, now: float) -> None:
        """A packet of the host leaves, or another one is taken instead of the one in use."""
        if self.first_unanswered is None:
            self.first_unanswered = now
            if now >= self.watched_until:
                self.watched_until = now + 2 * self.side.timing.send_timeout
                self.side.reap.awaiting(self.side.name, 0.0, now)
        self._look(now)
        self.unreplied = None
        self._emit(PAYLOAD)

    def check(self, now: float) -> None:
        """The controller asks whether something is unanswered."""
        if self.first_unanswered is not None:
            if not self._look(now):
                self.side.reap.awaiting(self.side.name, now - self.first_unanswered, now)
        else:
            self.watched_until = now

    def keepalive(self, now: float) -> None:
        """A keepalive leaves unless something else did."""
        self.keepalive_due = now
        if self.unreplied is not None and now - self.unreplied < self.side.timing.keepalive:
            self.keepalive_due = now + 2 * self.side.timing.keepalive
            self.side.reap.silent(self.side.name, now - self.unreplied, now)
        elif self.unreplied is not None:
            self.unreplied = None
            self._emit(encode(Keepalive(self.side.peer_tag)))

    def heard(self, pair: Pair, now: float, wants_answer: bool) -> None:
        """A packet or a keepalive of the peer arrives."""
        self.first_unanswered = None
        reap, name, timing = self.side.reap, self.side.name, self.side.timing
        if self.heard_on not in (None, pair) and self.heard_on == self.path != pair and pair in self.side.pairs:
            self.path = pair
            reap.followed(name, pair, now)
        self.heard_on = pair
        if wants_answer:
            self.unreplied = now if self.unreplied is None else self.unreplied
            if now >= self.keepalive_due:
                self.keepalive_due = now + 2 * timing.keepalive
                reap.silent(name, now - self.unreplied, now)
        if self.reports:
            reap.heard(name, now)

    def _look(self, now: float) -> bool:
        timeout = self.side.timing.send_timeout
        if self.first_unanswered is None or now - self.first_unanswered < timeout:
            return False
        age, self.first_unanswered = now - self.first_unanswered, now
        backup = self.backups.get(self.path)
        if backup is None:
            self.side.reap.unanswered(self.side.name, age, now)
        else:
            left, self.path = self.path, backup
            self.side.reap.left_path(self.side.name, left, backup, age, now)
        return True

    def _emit(self, octets: bytes) -> None:
        kind = NO_NEXT if octets == PAYLOAD else SHIM6
        self.side.world.transmit(Packet(self.path.local, self.path.peer, kind, octets))


@dataclass
class Side:
    """One end: its REAP, its switch, and all that came out."""

    letter: str
    world: World
    name: SessionKey
    timing: Timing
    pairs: list[Pair]
    reap: Reap
    outputs: list[Output] = field(default_factory=list)
    # When packets of the peer's host arrived.
    arrivals: list[float] = field(default_factory=list)
    switch: Switch = field(init=False)

    def __post_init__(self) -> None:
        self.switch = Switch(self, self.pairs[0])

    @property
    def peer_tag(self) -> int:
        """The tag that the other side knows the context by."""
        return TAGS["B" if self.letter == "A" else "A"]

    @property
    def state(self) -> State:
        """The state of the context."""
        watched = self.reap.watched(self.name)
        assert watched is not None
        return watched.state

    def of(self, kind: type[Output]) -> list[Output]:
        """Return the outputs of a kind."""
        return [output for output in self.outputs if isinstance(output, kind)]

    def act(self, now: float) -> None:
        """Do what an edge does with what comes out."""
        while outputs := self.reap.take_outputs():
            self.outputs += outputs
            for output in outputs:
                match output:
                    case Send(packet):
                        self.world.transmit(packet)
                    case Move(_, pair):
                        self.switch.path = pair
                    case Entered(_, state):
                        self.switch.reports = state is not State.OPERATIONAL
                    case Check():
                        self.switch.check(now)
                    case Answered():
                        self.switch.first_unanswered = None
                    case KeepaliveWanted():
                        self.switch.keepalive(now)
            verified = [pair for pair in self.pairs if pair in self.reap.verified(self.name)]
            self.switch.backups = {pair: to for pair in self.pairs if (to := backup_of(pair, verified)) is not None}


def backup_of(pair: Pair, verified: Iterable[Pair]) -> Pair | None:
    """Return the verified pair that shares least with one."""
    others = [each for each in verified if each != pair]
    return min(others, key=lambda each: (each.local == pair.local) + (each.peer == pair.peer), default=None)


class World:
    """The sides A and B. Packets take DELAY, unless the way between their addresses is cut, or chance loses them."""

    def __init__(self, seed: int = 1, send_timeout: float = 1.0, timing: Timing | None = None) -> None:
        self.now = 1000.0
        self.chance = random.Random(seed)
        self.loss = 0.0
        self.cut: set[Pair] = set()
        self.probes: list[tuple[float, Packet]] = []
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        timing = timing or Timing.of(send_timeout)
        self.a = self._side("A", timing, seed, [Pair(*pair) for pair in product((A1, A2), (B1, B2))])
        self.b = self._side("B", timing, seed + 1, [Pair(*pair) for pair in product((B1, B2), (A1, A2))])

    def _side(self, letter: str, timing: Timing, seed: int, pairs: list[Pair]) -> Side:
        reap = Reap(random.Random(seed))
        side = Side(letter, self, SessionKey(*pairs[0]), timing, pairs, reap)
        reap.watch(side.name, side.peer_tag, timing, pairs, pairs[0], self.now)
        return side

    def at(self, time: float, do: Callable[[], None]) -> None:
        """Let something happen at a time."""
        heapq.heappush(self._events, (time, next(self._order), do))

    def traffic(self, side: Side, every: float, until: float) -> None:
        """Let the host of a side send a packet every so often."""

        def send() -> None:
            side.switch.send(self.now)
            if self.now + every <= until:
                self.at(self.now + every, send)

        self.at(self.now, send)

    def transmit(self, packet: Packet) -> None:
        """Put a packet on its way."""
        if packet.next_header == SHIM6 and isinstance(decode(packet.payload), Probe):
            self.probes.append((self.now, packet))
        if Pair(packet.source, packet.destination) not in self.cut and self.chance.random() >= self.loss:
            self.at(self.now + DELAY, lambda: self._arrive(packet))

    def run(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while True:
            for side in (self.a, self.b):
                side.act(self.now)
            timers = [(at, side) for side in (self.a, self.b) if (at := side.reap.next_timer()) is not None]
            first = min(timers, key=lambda timer: timer[0], default=(float("inf"), self.a))
            event = self._events[0][0] if self._events else float("inf")
            if min(first[0], event) > end:
                self.now = end
                return
            if event <= first[0]:
                self.now = event
                heapq.heappop(self._events)[2]()
            else:
                self.now = max(self.now, first[0])
                first[1].reap.handle_timer(self.now)

    def cut_provider(self, address: object) -> None:
        """Cut all ways to and from an address."""
        self.cut |= {pair for side in (self.a, self.b) for pair in side.pairs if address in pair}

    def repair(self) -> None:
        """Let all ways work again."""
        self.cut.clear()

    def _arrive(self, packet: Packet) -> None:
        side = self.a if packet.destination in (A1, A2) else self.b
        pair = Pair(packet.destination, packet.source)
        if packet.next_header == NO_NEXT:
            side.arrivals.append(self.now)
            side.switch.heard(pair, self.now, True)
            return
        message = decode(packet.payload)
        if isinstance(message, Keepalive):
            side.switch.heard(pair, self.now, False)
        else:
            side.reap.receive(side.name, message, pair, self.now)
