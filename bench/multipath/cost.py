"""What the scheduler costs a packet in the engine, with and without, by the number of sessions.

One switch is filled with more and more sessions. Of those a part sends, from all over the tables, one packet each in
turn, so that what is known of them is rarely in the processor's caches when there are many. Which of them send, in
which order, and whether with a schedule first or without, is drawn each time; ratios are taken within a draw.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from ipaddress import IPv6Address, IPv6Network

import wayname_switch
from finsy.proto import p4r

from bench.figures import Line, Panel
from bench.multipath import crossed, tables
from bench.multipath.copies import copies, write
from bench.multipath.network import program
from bench.multipath.path import Route
from bench.multipath.policies import Schedule
from bench.multipath.report import Goal, Result
from bench.shim6.report import table
from bench.spread import HEADS, Spread
from wayname.p4_constants import SessionMode
from wayname.pipeline import sessions
from wayname.pipeline.entries import Entity
from wayname.pipeline.schedules import session_schedule
from wayname.wire.ethernet import Frame
from wayname.wire.ipv6 import Packet
from wayname.wire.mac import Mac
from wayname_lab.virtual.clock import MILLISECOND

COUNTS, QUICK_COUNTS = (1_000, 10_000, 100_000, 1_000_000), (100, 1_000)
SENDERS, QUICK_SENDERS = 1_000, 100
PATHS = 8
SEGMENT = 1190
DRAWS, QUICK_DRAWS = 30, 5
PORT = 5001
TCP, IPV6, HOP_LIMIT = 6, 0x86DD, 64
ANY_HOST = Mac(0x02_00_00_00_00_99)
# Header of 20 octets, ACK, a window; no checksum, which nothing here looks at.
TCP_TAIL = bytes([5 << 4, 16, 255, 255, 0, 0, 0, 0])
KINDS = ("data", "acknowledgement")
# The last four octets of the far host's address: as destination, as source.
AT_TO, AT_FROM = 50, 34
INTERVAL = 10_000  # nanoseconds between packets
# With and without are compared at each number of sessions: the share may grow so many times.
GOAL = 1.25
BARE = "no schedule"
FEEDBACK = crossed.FEEDBACK[crossed.BEST]
VARIANTS: dict[str, tuple[int, Schedule | None]] = {
    BARE: (2, None),
    "two paths": (2, Schedule()),
    "eight paths": (PATHS, Schedule()),
    "two paths, feedback": (2, FEEDBACK),
    "eight paths, feedback": (PATHS, FEEDBACK),
}
ROUTES = [Route(1e9 / (path + 1), 10 * MILLISECOND) for path in range(PATHS)]
# Of data, and of its acknowledgement, in nanoseconds.
Costs = tuple[float, float]


class Sessions:
    """A switch with more and more sessions of one host."""

    def __init__(self) -> None:
        text, self._schema = program()
        self._switch = wayname_switch.Switch(text)
        self._local = tables.host_address(0, 0)
        self._there = 0
        self._ready: set[int] = set()  # those with all their paths
        self._schedules: set[int] = set()
        self._now = 1_000_000_000
        self._sequence = 0
        self._insert(tables.of_edge(0, 1, PATHS))
        self._insert(sessions.endpoint_policy(IPv6Network(self._local), 0, 0.0))

    def grow(self, count: int) -> None:
        """Have so many; all of them have schedules."""
        numbers = range(self._there + 1, count + 1)
        self._there = count
        for make in (self._identities, lambda number: self._path(number, 0), self._schedule):
            self._copy(p4r.Update.INSERT, make, numbers)

    def draw(self, senders: int, rng: random.Random) -> dict[str, Costs]:
        """Return what a packet takes by each variant, the call from Python among it, of sessions that are drawn."""
        step = self._there // senders
        first = rng.randint(1, step)
        order = list(range(first, first + step * senders, step))
        rng.shuffle(order)
        costs = {}
        for name in rng.sample(list(VARIANTS), len(VARIANTS)):
            self._prepare(range(senders), first, step, *VARIANTS[name])
            self._round(order)
            costs[name] = self._round(order)
        return costs

    def _prepare(self, senders: range, first: int, step: int, paths: int, schedule: Schedule | None) -> None:
        """Change every so many sessions from the first on; each has a schedule's registers to itself."""
        new = [number for number in (first + step * sender for sender in senders) if number not in self._ready]
        self._ready.update(new)
        for path in range(1, PATHS):
            self._copy(p4r.Update.INSERT, partial(self._path, path=path), new)
        mode = SessionMode.SCHEDULE if schedule else SessionMode(0)
        self._copy(p4r.Update.MODIFY, lambda sender: self._identities(first + step * sender, mode), senders)
        if schedule:
            share = partial(session_schedule, paths={path: path for path in range(paths)})
            self._copy(p4r.Update.MODIFY, lambda sender: share(first + step * sender, sender), senders)
            self._schedule_each(senders, paths, schedule)

    def _schedule_each(self, numbers: range, paths: int, schedule: Schedule) -> None:
        """Have a schedule for each of these numbers; all have all slots, and their policies say how many count."""

        def entry(number: int, index: int) -> Entity:
            return schedule.entries(number, range(PATHS), ROUTES)[index]

        new = [number for number in numbers if number not in self._schedules]
        self._schedules.update(new)
        for index in range(PATHS + 1):
            self._copy(p4r.Update.INSERT, partial(entry, index=index), new)
        policy = partial(schedule.shares, subflows=schedule.subflows(range(paths), ROUTES))
        self._copy(p4r.Update.MODIFY, policy, numbers)

    def _round(self, sending: Sequence[int]) -> Costs:
        sequence, self._sequence = self._sequence, self._sequence + SEGMENT
        to = data_segment(self._local, remote(0), sequence)
        back = acknowledgement(remote(0), self._local, self._sequence)
        # Of the far host's address, in the frames, only the last octets differ.
        data = [to[:AT_TO] + number.to_bytes(4) + to[AT_TO + 4 :] for number in sending]
        answers = [back[:AT_FROM] + number.to_bytes(4) + back[AT_FROM + 4 :] for number in sending]
        return self._timed(1, data), self._timed(tables.path_port(0), answers)

    def _timed(self, port: int, frames: Sequence[bytes]) -> float:
        inject, now = self._switch.inject, self._now
        begun = time.thread_time_ns()
        for frame in frames:
            now += INTERVAL
            inject(port, frame, now)
        taken = time.thread_time_ns() - begun
        self._now = now
        return taken / len(frames)

    def _copy(self, kind: p4r.Update.Type.ValueType, make: Callable[[int], Entity], numbers: Iterable[int]) -> None:
        write(self._switch, kind, copies(self._schema, make, numbers))

    def _insert(self, entities: Iterable[Entity]) -> None:
        write(self._switch, p4r.Update.INSERT, (entity.encode(self._schema) for entity in entities))

    def _identities(self, number: int, mode: SessionMode = SessionMode.SCHEDULE) -> Entity:
        return sessions.identities(
            self._local, remote(number), number, 0, 1, send_timeout=0.0, keepalive=0.0, mode=mode, idle=0.0
        )

    @staticmethod
    def _path(number: int, path: int) -> Entity:
        return sessions.path_plain(number, path, tables.path_port(path))

    @staticmethod
    def _schedule(number: int) -> Entity:
        return session_schedule(number, 0, {0: 0, 1: 1})


def remote(number: int) -> IPv6Address:
    """Return the far host of a session."""
    return tables.site(1)[number]


def data_segment(local: IPv6Address, far: IPv6Address, sequence: int) -> bytes:
    """Return a frame with data of a session's connection."""
    ports = (PORT + 1).to_bytes(2) + PORT.to_bytes(2)
    tcp = ports + sequence.to_bytes(4) + bytes(4) + TCP_TAIL + bytes(SEGMENT)
    return _frame(tables.router_mac(0, tables.HOSTS_VLAN), local, far, tcp)


def acknowledgement(far: IPv6Address, local: IPv6Address, number: int) -> bytes:
    """Return a frame that acknowledges everything before a sequence number, as it comes by the first path."""
    tcp = PORT.to_bytes(2) + (PORT + 1).to_bytes(2) + bytes(4) + number.to_bytes(4) + TCP_TAIL
    return _frame(tables.router_mac(0, tables.path_port(0)), far, local, tcp)


def _frame(router: Mac, source: IPv6Address, destination: IPv6Address, tcp: bytes) -> bytes:
    packet = Packet(source, destination, TCP, tcp, HOP_LIMIT)
    return Frame(router, ANY_HOST, IPV6, packet.encode()).encode()


def run_all(quick: bool, seed: int) -> Result:
    """Measure all variants with more and more sessions."""
    counts, senders, draws = (QUICK_COUNTS, QUICK_SENDERS, QUICK_DRAWS) if quick else (COUNTS, SENDERS, DRAWS)
    filled, rng = Sessions(), random.Random(seed)
    seen: dict[int, list[dict[str, Costs]]] = {}
    for count in counts:
        filled.grow(count)
        seen[count] = [filled.draw(senders, rng) for _ in range(draws)]
    head = ("ns of processor time a packet, called from Python", "sessions", *HEADS)
    spreads = {
        (name, kind, count): Spread.of([each[name][part] for each in seen[count]])
        for name in VARIANTS
        for part, kind in enumerate(KINDS)
        for count in counts
    }
    rows = [(f"{name}: {kind}", f"{count:,}", *each.cells(0)) for (name, kind, count), each in spreads.items()]
    goals = [_goal(name, seen) for name in VARIANTS if name != BARE]
    data_spreads = {name: [(count, spreads[name, KINDS[0], count]) for count in counts] for name in VARIANTS}
    lines = [
        Line(name, [(count, each.median) for count, each in of], [(each.tenth, each.ninetieth) for _, each in of])
        for name, of in data_spreads.items()
    ]
    panel = Panel("What a packet takes in the engine", "sessions", "ns, with the call from Python", lines, log_x=True)
    text = [*table(head, rows), f"{draws} draws, seed {seed}"]
    return Result("multipath-cost", {"data and acknowledgement, by sessions": seen}, text, goals, (panel,))


def _goal(name: str, seen: Mapping[int, Sequence[Mapping[str, Costs]]]) -> Goal:
    few, many = min(seen), max(seen)
    times = {count: Spread.of([each[name][0] / each[BARE][0] for each in seen[count]]) for count in (few, many)}
    told = " and ".join(
        f"{each.median:.2f} times with {count:,} (10 % {each.tenth:.2f}, 90 % {each.ninetieth:.2f},"
        f" worst {each.worst:.2f})"
        for count, each in times.items()
    )
    return Goal(
        f"{name}: of what a packet takes without, by sessions: {told}; at most {GOAL} times as much more wanted",
        times[many].median <= GOAL * times[few].median,
    )
