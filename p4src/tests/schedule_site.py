"""A schedule as the table holds it, and the packets that a host sends by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from carriers import ipv6
from session_site import LOCAL, REMOTE, REMOTE_1, SESSION

from small_site import Entry
from wayname.p4_constants import PATH_BITS, SLOTS_OF_SCHEDULE, ScheduleFeedback, SessionMode

SCHEDULE = SessionMode.SCHEDULE
MOST_PATHS = SLOTS_OF_SCHEDULE
FINE = 1 << 24  # of which an octet's time is a whole number
LARGEST = 9000
FOLLOW, CLOSE, HOLD = ScheduleFeedback
TCP, SYN, RST, ACK = 6, 2, 4, 16


@dataclass(frozen=True)
class PathOf:
    """A path as the entry has it: microseconds, and 2^-24 microseconds an octet."""

    delay: int
    inverse_rate: int
    queue: int = 0

    @property
    def exact(self) -> Fraction:
        return Fraction(self.inverse_rate, FINE)


def inverse_rate(bits_a_second: int) -> int:
    """Of a rate, rounded as whoever writes entries should."""
    return round(Fraction(8_000_000 * FINE, bits_a_second))


@dataclass(frozen=True)
class Schedule:
    """What the tables hold of it."""

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
    slots: int = 0  # that the session may take; 0: all
    copies: int = 1  # in which each of its packets goes

    def entries(self) -> Iterator[Entry]:
        """Its slots, its policy, and a session whose path n is in slot n."""
        for slot, path in enumerate(self.paths):
            believed: dict[str, int | str] = {
                "delay": path.delay,
                "inverse_rate": path.inverse_rate,
                "queue": path.queue,
            }
            yield Entry(f"subflow_slots_{slot}", {"schedule": self.number}, "set_subflow", believed)
        yield self.shares()
        yield self.of_session()

    def of_session(self) -> Entry:
        """What its session takes of it."""
        packed = sum(slot << PATH_BITS * slot for slot in range(MOST_PATHS))
        slots = self.slots or (1 << len(self.paths)) - 1
        taken: dict[str, int | str] = {"schedule": self.number, "paths": packed, "slots": slots}
        if self.copies > 1:
            return Entry("session_schedules", {"session": self.session}, "replicate", {**taken, "copies": self.copies})
        return Entry("session_schedules", {"session": self.session}, "use_schedule", taken)

    def shares(self) -> Entry:
        """How packets are shared out to its slots."""
        parameters: dict[str, int | str] = {"paths": len(self.paths)}
        if self.policy != "per_flow":
            parameters |= {"generation": self.generation, "framing": self.framing}
        if self.policy == "fastest_first":
            parameters |= {
                "feedback": self.feedback,
                "tolerance": self.tolerance,
                "probe_interval": self.probe_interval,
                "hold": self.hold,
            }
        return Entry("schedules", {"schedule": self.number}, self.policy, parameters)


def locator(path: int) -> str:
    return f"2001:db8:1:a::{path + 0x20:x}"


def paths_of(session: int = SESSION) -> Iterator[Entry]:
    """Eight paths that the source tells apart."""
    for path in range(MOST_PATHS):
        bears: dict[str, int | str] = {"source": locator(path), "destination": REMOTE_1, "tag": 1, "vrf": 0}
        yield Entry("paths", {"session": session, "path": path}, "send_shim6", bears)
        came: dict[str, int | str] = {"session": session, "source": REMOTE_1, "destination": locator(path)}
        yield Entry("locator_pairs", came, "on_path", {"path": path})


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
