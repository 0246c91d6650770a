"""The embedded switch with one session over two to eight paths and a schedule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from carriers import ipv6
from esp_site import EspSession
from finsy.proto import p4r
from schedule_site import (
    ACK,
    LARGEST,
    SCHEDULE,
    TCP,
    Schedule,
    block,
    datagram,
    locator,
    paths_of,
    segment,
)
from session_site import LOCAL, OUR_TAG, REMOTE, REMOTE_1, Session, between, from_host, in_by, with_header
from session_switch import SessionSwitch
from site_switch import MAIN

from small_site import CPU, Entry
from wayname.p4_constants import PathEventKind


class PathEvent(NamedTuple):
    kind: str
    place: int
    late: int
    delay: int
    inverse_rate: int
    queue: int


@dataclass(frozen=True)
class Scheduled(Session):
    """A session whose paths are all of one kind."""

    mode: int = SCHEDULE
    watched: bool = False

    def entries(self) -> Iterator[Entry]:
        yield from (entry for entry in super().entries() if entry.table not in {"paths", "locator_pairs"})
        yield from paths_of(self.number)


class ScheduledSwitch(SessionSwitch):
    scheduled: ClassVar[type[Session] | type[EspSession]] = Scheduled
    program: ClassVar[Path] = MAIN

    def __init__(self, schedule: Schedule, backend: str = "jit", program: Path | None = None) -> None:
        mtu = Entry("port_mtus", {"port": 4}, "set_port_mtu", {"bytes": LARGEST + 8})
        self._path_events: list[PathEvent] = []
        super().__init__(self.scheduled(), mtu, *schedule.entries(), backend=backend, program=program or self.program)
        update = p4r.Update(type=p4r.Update.INSERT)
        update.entity.digest_entry.digest_id = self.digests["path_events"]
        update.entity.digest_entry.config.max_list_size = 1
        self.write(update)

    def passes(self, time: int) -> list[tuple[int, bytes]]:
        """What the switch sends by itself until then."""
        self.now = self.begin + time * 1_000
        outputs = [(each.port, each.packet) for each in self.switch.advance(self.now)]
        self._hear_digests()
        return outputs

    def reschedule(self, schedule: Schedule) -> None:
        for entry in schedule.entries():
            self.add(entry.table, entry.action, entry.keys, entry.parameters, p4r.Update.MODIFY)

    def take_best_path(self, slot: int) -> None:
        self.add("schedules", "best_path", {"schedule": 1}, {"slot": slot}, p4r.Update.MODIFY)

    def ways(self, time: int, packet: bytes) -> list[int]:
        """The paths that a host's packet goes by, and then a copy that probes one."""
        outputs = [frame for port, frame in self.at(time, 1, bytes(from_host(packet))) if port != CPU]
        return [frame[14 + 8 + 15] - 0x20 for frame in outputs]

    def goes_by(self, time: int, packet: bytes) -> int:
        """The path that a host's packet goes by, and no copy of it by another."""
        (way,) = self.ways(time, packet)
        return way

    def data(self, time: int, sequence: int, length: int, flags: int = ACK, port: int = 1000) -> int:
        """The path that a segment of the host goes by."""
        return self.goes_by(time, ipv6(TCP, segment(sequence, 0, length, flags, (port, 80)), LOCAL, REMOTE))

    def probes(self, time: int, sequence: int, length: int, port: int = 1000) -> list[int]:
        """The path that a segment goes by, and the one that a copy of it probes."""
        return self.ways(time, ipv6(TCP, segment(sequence, 0, length, ACK, (port, 80)), LOCAL, REMOTE))

    def acknowledges(
        self,
        time: int,
        sequence: int,
        by: int = 0,
        length: int = 0,
        port: int = 1000,
        flags: int = ACK,
        options: bytes = b"",
        held: bool = False,
    ) -> None:
        """The peer's acknowledgement comes by a path, and is passed on unless it is held back."""
        packet = ipv6(TCP, segment(7, sequence, length, flags, (80, port), options), REMOTE, LOCAL)
        frame = bytes(in_by(4, with_header(between(packet, REMOTE_1, locator(by)), OUR_TAG)))
        assert len(self.at(time, 4, frame)) == (not held)

    def comes_twice(self, time: int, sequence: int, begins: int, length: int, port: int = 1000) -> None:
        """The peer acknowledges, and says that a segment has come twice (RFC 2883)."""
        self.acknowledges(time, sequence, port=port, options=bytes([1, 1]) + block(begins, begins + length))

    def path_events(self) -> list[PathEvent]:
        """What was told of paths since the last time."""
        told, self._path_events = self._path_events, []
        return told

    def _hear_digests(self) -> None:
        for text in self.switch.digests(self.now):
            digest = p4r.DigestList.FromString(text)
            if digest.digest_id != self.digests["path_events"]:
                self._session_events += [
                    [int.from_bytes(m.bitstring) for m in each.struct.members] for each in digest.data
                ]
                continue
            for data in digest.data:
                kind, _, _, place, _, late, delay, inverse_rate, queue, *_ = (
                    int.from_bytes(each.bitstring) for each in data.struct.members
                )
                late -= (late >> 31) << 32
                name = PathEventKind(kind).name.lower()
                self._path_events.append(PathEvent(name, place, late, delay, inverse_rate, queue))

    def sends_octets(self, time: int, octets: int) -> int:
        return self.goes_by(time, datagram(octets))
