"""A switch with more and more sessions of one host, and what a packet of some of them takes in the engine."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import wayname_switch
from finsy.proto import p4r

from bench.multipath import cost_frames as frames
from bench.multipath import tables
from bench.multipath.copies import copies, write
from bench.multipath.network import program
from bench.multipath.path import Route
from bench.multipath.policies import Schedule
from wayname.p4_constants import NUMBERED_SESSIONS, SessionMode
from wayname.pipeline import sessions
from wayname.pipeline.entries import Entity
from wayname.pipeline.program import BUFFERED_PROGRAM
from wayname.pipeline.schedules import session_schedule
from wayname_lab.virtual.clock import MILLISECOND, SECOND

PATHS = 8
# Each session's paths that bear locators have the numbers behind its plain ones.
FIRST_SHIM6_PATH = PATHS
# Those with higher numbers are not numbered (docs/scheduling.md).
MOST_NUMBERED = NUMBERED_SESSIONS - 1
ROUTES = [Route(1e9 / (path + 1), 10 * MILLISECOND) for path in range(PATHS)]
# The last four octets of the far host's address: as destination, as source.
AT_TO, AT_FROM = 50, 34
INTERVAL = 10_000  # nanoseconds between packets
# What edges tell comes so much later than the last packet was sent: before copies are looked at again.
UNTIL_TOLD = 10 * MILLISECOND
# Of two packets under way that have one place where they are remembered, the report of a path's first is not taken.
MOST_UNREPORTED = 0.02
TELLS = SessionMode.SCHEDULE | SessionMode.NUMBER | SessionMode.ORDER
REPORTS_HEARD, REFUSALS = "path_reports_heard", "buffer_refusals"
TAKEN = REFUSED_COPY = 0
# Of data, and of its acknowledgement, in nanoseconds.
Costs = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Variant:
    """How sessions send."""

    paths: int
    schedule: Schedule | None
    shim6: bool = False  # their packets bear locators; with a schedule edges tell each other then

    @property
    def tells(self) -> bool:
        """Whether edges tell each other."""
        return self.shim6 and self.schedule is not None

    @property
    def first_path(self) -> int:
        """The path in the first slot, or without a schedule."""
        return FIRST_SHIM6_PATH if self.shim6 else 0

    @property
    def mode(self) -> SessionMode:
        """What the tables hold of it."""
        if self.schedule is None:
            return SessionMode(0)
        return TELLS if self.shim6 else SessionMode.SCHEDULE


@dataclass(frozen=True, slots=True)
class Senders:
    """Every so many sessions from the first on."""

    count: int
    first: int
    step: int

    def session(self, sender: int) -> int:
        """Return the number of the session of one of them."""
        return self.first + self.step * sender


class Sessions:
    """A switch with more and more sessions of one host."""

    def __init__(self) -> None:
        _, self._schema = program()
        # The program that labs run: the other one has no buffers, which edges that tell each other use.
        text = wayname_switch.device_config(str(BUFFERED_PROGRAM))
        self.switch = wayname_switch.Switch(text)
        self._local = tables.host_address(0, 0)
        self._there = 0
        self._ready: set[int] = set()  # those with all their plain paths
        self._schedules: set[int] = set()
        self._now = SECOND
        self._sequence = 0
        self._rounds = 0
        self._insert(tables.of_edge(0, 1, PATHS))
        self._insert(sessions.endpoint_policy(tables.site(0), 0, 0.0))

    def grow(self, count: int) -> None:
        """Have so many; all of them have schedules, tags and locators."""
        numbers = range(self._there + 1, count + 1)
        self._there = count
        plain = Variant(2, Schedule())
        for make in (
            partial(self._identities, variant=plain),
            partial(self._path, path=0),
            self._schedule,
            lambda number: sessions.context_tag(number, number, self._local, frames.remote(number)),
            lambda number: self._locators(number, FIRST_SHIM6_PATH),
        ):
            self._copy(p4r.Update.INSERT, make, numbers)
        numbered = range(numbers.start, min(numbers.stop, MOST_NUMBERED + 1))
        for path in range(FIRST_SHIM6_PATH, FIRST_SHIM6_PATH + PATHS):
            self._copy(p4r.Update.INSERT, partial(self._shim6_path, path=path), numbered)

    def draw(self, variants: dict[str, Variant], count: int, rng: random.Random) -> dict[str, Costs]:
        """Return what a packet takes by each variant, the call from Python among it, of sessions that are drawn."""
        everywhere = self._senders(count, self._there, rng)
        numbered = self._senders(count, min(self._there, MOST_NUMBERED), rng)
        order = list(range(count))
        rng.shuffle(order)
        costs = {}
        for name in rng.sample(list(variants), len(variants)):
            variant = variants[name]
            senders = numbered if variant.shim6 else everywhere
            sending = [senders.session(sender) for sender in order]
            self._prepare(senders, variant)
            self._round(sending, variant, first=True)
            costs[name] = self._round(sending, variant, first=False)
            if variant.tells:
                self._flush(count)
        return costs

    def counted(self, name: str, index: int) -> int:
        """Return a counter of the program."""
        counter = next(each for each in self._schema.p4info.counters if each.preamble.alias == name)
        wanted = p4r.Entity(counter_entry=p4r.CounterEntry(counter_id=counter.preamble.id))
        wanted.counter_entry.index.index = index
        answer = self.switch.read(p4r.ReadRequest(device_id=1, entities=[wanted]).SerializeToString())
        return p4r.ReadResponse.FromString(answer).entities[0].counter_entry.data.packet_count

    @staticmethod
    def _senders(count: int, of: int, rng: random.Random) -> Senders:
        step = of // count
        return Senders(count, rng.randint(1, step), step)

    def _prepare(self, senders: Senders, variant: Variant) -> None:
        """Change what the tables hold of senders; each has a schedule's registers to itself."""
        each = range(senders.count)
        if not variant.shim6:
            new = [number for number in map(senders.session, each) if number not in self._ready]
            self._ready.update(new)
            for path in range(1, PATHS):
                self._copy(p4r.Update.INSERT, partial(self._path, path=path), new)
        self._copy(p4r.Update.MODIFY, lambda sender: self._identities(senders.session(sender), variant), each)
        if variant.schedule:
            # What is learned of paths by what edges tell is of schedules of their own.
            offset = senders.count if variant.shim6 else 0
            taken = {slot: variant.first_path + slot for slot in range(variant.paths)}
            share = partial(session_schedule, paths=taken)
            self._copy(p4r.Update.MODIFY, lambda sender: share(senders.session(sender), offset + sender), each)
            self._schedule_each(range(offset, offset + senders.count), variant.paths, variant.schedule)

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

    def _round(self, sending: Sequence[int], variant: Variant, *, first: bool) -> Costs:
        sequence, self._sequence = self._sequence, self._sequence + frames.SEGMENT
        self._rounds += 1
        to = frames.data_segment(self._local, frames.remote(0), sequence)
        # Of the far host's address, in the frames, only the last octets differ.
        data = [to[:AT_TO] + number.to_bytes(4) + to[AT_TO + 4 :] for number in sending]
        begun = self._now
        of_data, left = self._timed(1, data)
        if variant.tells:
            # Copies are kept for a peer that has told something.
            if not first and self.switch.next_departure() is None:
                raise ValueError("no copy is kept of what was sent")
            answers = self._told(sending, left, begun)
            self._now += UNTIL_TOLD
        elif variant.shim6:
            answers = [frames.tagged_acknowledgement(FIRST_SHIM6_PATH, each, self._sequence) for each in sending]
        else:
            back = frames.acknowledgement(frames.remote(0), self._local, self._sequence)
            answers = [back[:AT_FROM] + number.to_bytes(4) + back[AT_FROM + 4 :] for number in sending]
        before = self.counted(REPORTS_HEARD, TAKEN)
        of_answers, _ = self._timed(tables.path_port(0), answers)
        taken = self.counted(REPORTS_HEARD, TAKEN) - before
        if variant.tells and taken < (1 - MOST_UNREPORTED) * len(sending):
            raise ValueError(f"of {len(sending)} reports {taken} were taken")
        return of_data, of_answers

    def _told(self, sending: Sequence[int], left: Sequence[wayname_switch.Output], begun: int) -> list[bytes]:
        """Return acknowledgements with reports of what left."""
        answers = []
        for place, (number, output) in enumerate(zip(sending, left, strict=True)):
            arrived = (begun + (place + 1) * INTERVAL + ROUTES[0].delay) // 1000
            numbered = frames.read_option(output.packet)
            told = numbered, arrived % (1 << 32)
            answers.append(
                frames.telling_acknowledgement(FIRST_SHIM6_PATH, number, self._sequence, self._rounds, *told)
            )
        return answers

    def _flush(self, count: int) -> None:
        """Let the time of copies pass: those that reports released do not go again."""
        again = 0
        until = self._now + SECOND
        while (at := self.switch.next_departure()) is not None and at <= until:
            again += len(self.switch.advance(at))
        self._now = until
        # What goes again is kept again, once.
        if again > 2 * MOST_UNREPORTED * count or self.switch.next_departure() is not None:
            raise ValueError(f"of {count} packets reports left copies in the buffer: {again} packets went again")
        if self.counted(REFUSALS, REFUSED_COPY):
            raise ValueError("a copy found no room")

    def _timed(self, port: int, sent: Sequence[bytes]) -> tuple[float, list[wayname_switch.Output]]:
        """Return the time of each, and what left."""
        inject, now = self.switch.inject, self._now
        left = []
        begun = time.thread_time_ns()
        for frame in sent:
            now += INTERVAL
            left.append(inject(port, frame, now))
        taken = time.thread_time_ns() - begun
        self._now = now
        # A drop costs less than a packet that leaves.
        lost = sum(not outputs for outputs in left)
        if lost:
            raise ValueError(f"of {len(sent)} packets {lost} did not leave")
        return taken / len(sent), [outputs[0] for outputs in left]

    def _copy(self, kind: p4r.Update.Type.ValueType, make: Callable[[int], Entity], numbers: Iterable[int]) -> None:
        write(self.switch, kind, copies(self._schema, make, numbers))

    def _insert(self, entities: Iterable[Entity]) -> None:
        write(self.switch, p4r.Update.INSERT, (entity.encode(self._schema) for entity in entities))

    def _identities(self, number: int, variant: Variant) -> Entity:
        return sessions.identities(
            self._local,
            frames.remote(number),
            number,
            variant.first_path,
            # A new generation moves it to the path.
            2 if variant.shim6 else 1,
            send_timeout=0.0,
            keepalive=0.0,
            mode=variant.mode,
            idle=0.0,
        )

    @staticmethod
    def _path(number: int, path: int) -> Entity:
        return sessions.path_plain(number, path, tables.path_port(path))

    @staticmethod
    def _shim6_path(number: int, path: int) -> Entity:
        locators = frames.local_locator(path), frames.far_locator(path)
        return sessions.path_shim6(number, path, *locators, number, tables.path_port(path - FIRST_SHIM6_PATH))

    @staticmethod
    def _locators(number: int, path: int) -> Entity:
        return sessions.locator_pair(number, frames.far_locator(path), frames.local_locator(path), path)

    @staticmethod
    def _schedule(number: int) -> Entity:
        return session_schedule(number, 0, {0: 0, 1: 1})
