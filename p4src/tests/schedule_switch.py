"""The embedded switch with one session over two to eight paths and a schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from carriers import ipv6
from finsy.proto import p4r
from session_site import LOCAL, REMOTE, REMOTE_1, SESSION, from_host
from session_site import Session as Kept
from session_switch import SessionSwitch

from small_site import CPU, Entry

SCHEDULE = 8
MOST_PATHS = 8
FINE = 1 << 24  # of which an octet's time is a whole number
LARGEST = 9000


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
    session: int = SESSION

    def entry(self) -> Entry:
        parameters: dict[str, int | str] = {
            "schedule": self.number,
            "generation": self.generation,
            "paths": len(self.paths),
            "framing": self.framing,
            "feedback": self.feedback,
            "tolerance": self.tolerance,
            "probe_interval": self.probe_interval,
        }
        rest = [PathOf(0, 0)] * (MOST_PATHS - len(self.paths))
        for place, path in enumerate([*self.paths, *rest]):
            parameters |= {
                f"path_{place}": place,
                f"delay_{place}": path.delay,
                f"octet_time_{place}": path.octet_time,
            }
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
        super().__init__(Scheduled(), mtu, schedule.entry(), backend=backend)

    def reschedule(self, schedule: Schedule) -> None:
        entry = schedule.entry()
        self.add(entry.table, entry.action, entry.keys, entry.parameters, p4r.Update.MODIFY)

    def take_best_path(self, path: int) -> None:
        self.add("schedules", "best_path", {"session": SESSION}, {"path": path}, p4r.Update.MODIFY)

    def goes_by(self, time: int, packet: bytes) -> int:
        """The path that a host's packet goes by."""
        ((_, frame),) = [output for output in self.at(time, 1, bytes(from_host(packet))) if output[0] != CPU]
        return frame[14 + 8 + 15] - 0x20

    def sends_octets(self, time: int, octets: int) -> int:
        return self.goes_by(time, datagram(octets))


def datagram(octets: int) -> bytes:
    """A packet of so many octets in all, of no flow that matters."""
    return ipv6(59, bytes(octets - 40), LOCAL, REMOTE)
