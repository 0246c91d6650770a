"""The embedded switch with one session over two to eight paths and a schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from carriers import ipv6
from finsy.proto import p4r
from session_site import LOCAL, OUR_TAG, REMOTE, REMOTE_1, SESSION, between, from_host, in_by, with_header
from session_site import Session as Kept
from session_switch import SessionSwitch

from small_site import CPU, Entry

SCHEDULE = 8
MOST_PATHS = 8
FINE = 1 << 24  # of which an octet's time is a whole number
LARGEST = 9000


FOLLOW, CLOSE, HOLD = 1, 2, 4
NEWS = {1: "late", 2: "lost", 3: "opened", 4: "estimated"}
TCP, SYN, RST, ACK = 6, 2, 4, 16


class PathNews(NamedTuple):
    kind: str
    place: int
    late: int
    delay: int
    octet_time: int


@dataclass(frozen=True)
class PathOf:
    """A path as the entry has it: microseconds, and 2^-24 microseconds an octet."""

    delay: int
    octet_time: int

    @property
    def exact(self) -> Fraction:
        return Fraction(self.octet_time, FINE)


def octet_time(bits_a_second: int) -> int:
    """Of a rate, rounded as whoever writes entries should."""
    return round(Fraction(8_000_000 * FINE, bits_a_second))


@dataclass(frozen=True)
class Schedule:
    """What the table holds of it."""

    paths: Sequence[PathOf]
    policy: str = "fastest_first"
    number: int = 1
    generation: int = 1
    framing: int = 0
    feedback: int = 0
    tolerance: int = 0
    probe_interval: int = 1_000_000
    hold: int = 0
    session: int = SESSION

    def entry(self) -> Entry:
        parameters: dict[str, int | str] = {"paths": len(self.paths)}
        if self.policy != "per_flow":
            parameters |= {"schedule": self.number, "generation": self.generation, "framing": self.framing}
        if self.policy == "fastest_first":
            parameters |= {
                "feedback": self.feedback,
                "tolerance": self.tolerance,
                "probe_interval": self.probe_interval,
                "hold": self.hold,
            }
        rest = [PathOf(0, 0)] * (MOST_PATHS - len(self.paths))
        for place, path in enumerate([*self.paths, *rest]):
            parameters[f"path_{place}"] = place
            if self.policy != "per_flow":
                parameters[f"octet_time_{place}"] = path.octet_time
            if self.policy == "fastest_first":
                parameters[f"delay_{place}"] = path.delay
        return Entry("schedules", {"session": self.session}, self.policy, parameters)


def locator(path: int) -> str:
    return f"2001:db8:1:a::{path + 0x20:x}"


def paths_of(session: int = SESSION) -> Iterator[Entry]:
    """Eight paths that the source tells apart."""
    for path in range(MOST_PATHS):
        bears: dict[str, int | str] = {"source": locator(path), "destination": REMOTE_1, "tag": 1, "route_table": 0}
        yield Entry("paths", {"session": session, "path": path}, "send_shim6", bears)
        came: dict[str, int | str] = {"session": session, "source": REMOTE_1, "destination": locator(path)}
        yield Entry("locator_pairs", came, "on_path", {"path": path})


@dataclass(frozen=True)
class Scheduled(Kept):
    """A session whose paths are all of one kind."""

    mode: int = SCHEDULE
    watched: bool = False

    def entries(self) -> Iterator[Entry]:
        yield from (entry for entry in super().entries() if entry.table not in {"paths", "locator_pairs"})
        yield from paths_of(self.number)


class ScheduledSwitch(SessionSwitch):
    def __init__(self, schedule: Schedule, backend: str = "jit") -> None:
        mtu = Entry("port_mtus", {"port": 4}, "set_port_mtu", {"bytes": LARGEST + 8})
        self._path_news: list[PathNews] = []
        super().__init__(Scheduled(), mtu, schedule.entry(), backend=backend)
        update = p4r.Update(type=p4r.Update.INSERT)
        update.entity.digest_entry.digest_id = self.digests["schedule_news"]
        update.entity.digest_entry.config.max_list_size = 1
        self.write(update)

    def reschedule(self, schedule: Schedule) -> None:
        entry = schedule.entry()
        self.add(entry.table, entry.action, entry.keys, entry.parameters, p4r.Update.MODIFY)

    def take_best_path(self, path: int) -> None:
        self.add("schedules", "best_path", {"session": SESSION}, {"path": path}, p4r.Update.MODIFY)

    def goes_by(self, time: int, packet: bytes) -> int:
        """The path that a host's packet goes by."""
        ((_, frame),) = [output for output in self.at(time, 1, bytes(from_host(packet))) if output[0] != CPU]
        return frame[14 + 8 + 15] - 0x20

    def data(self, time: int, sequence: int, length: int, flags: int = ACK, port: int = 1000) -> int:
        """The path that a segment of the host goes by."""
        return self.goes_by(time, ipv6(TCP, segment(sequence, 0, length, flags, (port, 80)), LOCAL, REMOTE))

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

    def path_news(self) -> list[PathNews]:
        """What was told of paths since the last time."""
        told, self._path_news = self._path_news, []
        return told

    def _hear_digests(self) -> None:
        for text in self.switch.digests(self.now):
            for data in p4r.DigestList.FromString(text).data:
                kind, _, _, place, _, late, delay, octet_time = (
                    int.from_bytes(each.bitstring) for each in data.struct.members
                )
                late -= (late >> 31) << 32
                self._path_news.append(PathNews(NEWS[kind], place, late, delay, octet_time))

    def sends_octets(self, time: int, octets: int) -> int:
        return self.goes_by(time, datagram(octets))


def datagram(octets: int) -> bytes:
    """A packet of so many octets in all, of no flow that matters."""
    return ipv6(59, bytes(octets - 40), LOCAL, REMOTE)


def segment(
    sequence: int, acknowledged: int, length: int, flags: int, ports: tuple[int, int], options: bytes = b""
) -> bytes:
    """A TCP segment; nobody looks at its checksum."""
    numbers = b"".join(number.to_bytes(2) for number in ports)
    numbers += (sequence % 2**32).to_bytes(4) + (acknowledged % 2**32).to_bytes(4)
    begins = (20 + len(options)) // 4 << 4
    return numbers + bytes([begins, flags, 0xFF, 0xFF, 0, 0, 0, 0]) + options + bytes(length)


def block(begins: int, ends: int) -> bytes:
    """A selective acknowledgement of what came out of order."""
    return bytes([5, 10]) + begins.to_bytes(4) + ends.to_bytes(4)
