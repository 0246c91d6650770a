"""A scheduled session that numbers its packets, and a peer that counts them and reports what came."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from carriers import ipv6
from schedule_site import SCHEDULE, datagram, locator
from schedule_switch import Scheduled, ScheduledSwitch
from session_site import LOCAL, OUR_TAG, REMOTE, REMOTE_1, SESSION, between, from_host, in_by, with_header

from small_site import CPU
from wayname.p4_constants import SessionMode

DESTINATION_OPTIONS, SHIM6, OPTION = 60, 140, 0x1E
VERSION, COUNTED = 1, 1
NUMBERS = 1 << 24
NUMBER_OCTETS, REPORT_OCTETS = 8, 16  # of a packet


class Report(NamedTuple):
    """What came by the path in a slot of who gets the report; the clock is of who makes it."""

    slot: int
    newest: int
    arrived: int
    received: int
    marked: int = 0
    came: int = (1 << 24) - 1

    def octets(self) -> bytes:
        numbers = bytes([self.slot]) + (self.newest % NUMBERS).to_bytes(3) + (self.arrived % 2**32).to_bytes(4)
        return numbers + (self.received % NUMBERS).to_bytes(3) + self.marked.to_bytes(2) + self.came.to_bytes(3)


class Numbered(NamedTuple):
    """A packet between edges: the path of its source, its path option, and what is behind the session's header."""

    path: int
    counted: bool
    slot: int
    sequence: int
    report: Report | None
    packet: bytes


def option(
    slot: int, sequence: int, report: Report | None = None, *, follows: int = SHIM6, counted: int = COUNTED
) -> bytes:
    """The destination options with the path option alone."""
    body = report.octets() if report else b""
    start = bytes([follows, len(body) // 8, OPTION, 4 + len(body), VERSION << 4 | counted << 3 | slot])
    return start + (sequence % NUMBERS).to_bytes(3) + body


def with_option(packet: bytes, put: bytes) -> bytes:
    """The packet with destination options right behind its IPv6 header."""
    length = len(packet) - 40 + len(put)
    return packet[:4] + length.to_bytes(2) + bytes([DESTINATION_OPTIONS]) + packet[7:40] + put + packet[40:]


def read_option(packet: bytes, at: int, follows: int) -> Numbered:
    """A packet to the peer whose option stands there, right before this; every octet of the option is looked at."""
    length = packet[at + 1]
    assert packet[at : at + 4] == bytes([follows, length, OPTION, 4 + 8 * length])
    assert packet[at + 4] >> 4 == VERSION
    report = None
    if length:
        assert length == 2
        body = packet[at + 8 : at + 24]
        sizes = (1, 3, 4, 3, 2, 3)
        ends = [sum(sizes[: each + 1]) for each in range(len(sizes))]
        report = Report(*(int.from_bytes(body[end - size : end]) for size, end in zip(sizes, ends, strict=True)))
    assert int.from_bytes(packet[4:6]) == len(packet) - 40, "its length is right"
    return Numbered(
        packet[23] - 0x20,
        bool(packet[at + 4] >> 3 & 1),
        packet[at + 4] & 7,
        int.from_bytes(packet[at + 5 : at + 8]),
        report,
        packet[at + 8 + 8 * length :],
    )


def read(frame: bytes) -> Numbered:
    """A frame to the peer, without the payload header behind its option."""
    packet = frame[14:]
    assert packet[6] == DESTINATION_OPTIONS, "it bears the option"
    numbered = read_option(packet, 40, SHIM6)
    assert numbered.packet[1] == 0
    assert numbered.packet[2] & 0x80
    return numbered._replace(packet=numbered.packet[8:])


@dataclass
class Counts:
    """What a peer knows of a slot."""

    newest: int
    arrived: int
    received: int
    marked: int = 0


@dataclass
class Peer:
    """Counts what comes, by a clock of its own."""

    clock: int = 0
    slots: dict[int, Counts] = field(default_factory=dict)

    def hears(self, time: int, packet: Numbered) -> None:
        counts = self.slots.setdefault(packet.slot, Counts(packet.sequence - 1, 0, packet.sequence - 1))
        counts.newest, counts.arrived = packet.sequence, time + self.clock
        counts.received += 1

    def report(self, slot: int) -> Report:
        counts = self.slots[slot]
        return Report(slot, counts.newest, counts.arrived, counts.received, counts.marked)


@dataclass(frozen=True)
class NumberedSession(Scheduled):
    mode: int = SCHEDULE | SessionMode.NUMBER


class NumberedSwitch(ScheduledSwitch):
    scheduled = NumberedSession

    def frames(self, time: int, packet: bytes) -> list[bytes]:
        """What leaves for the peer when the host sends this."""
        return [frame for port, frame in self.at(time, 1, bytes(from_host(packet))) if port != CPU]

    @property
    def time(self) -> int:
        """Microseconds since it began."""
        return (self.now - self.begin) // 1_000

    def crosses(self, time: int, frame: bytes) -> list[tuple[int, bytes]]:
        """What another such switch sent to its peer comes here, whose locators are the other way round."""
        packet = frame[14:]
        inside = packet[:8] + packet[24:40] + packet[8:24] + packet[40:]
        tag = 48 + 8 * packet[41]
        inside = inside[:tag] + inside[tag : tag + 2] + (1 << 47 | OUR_TAG).to_bytes(6) + inside[tag + 8 :]
        return self.at(max(time, self.time), 4, bytes(in_by(4, inside)))

    def numbers(self, time: int, packet: bytes | None = None, octets: int = 1000) -> Numbered:
        """A host's packet as it goes to the peer."""
        (frame,) = self.frames(time, packet or datagram(octets))
        return read(frame)

    def comes(
        self, time: int, by: int, put: bytes, packet: bytes | None = None, tag: int = OUR_TAG
    ) -> list[tuple[int, bytes]]:
        """A packet of the peer by a path, with this before the session's header; what the switch sends for it."""
        inner = packet or ipv6(17, bytes(8), REMOTE, LOCAL)
        tagged = with_header(between(inner, REMOTE_1, locator(by)), tag)
        return self.at(time, 4, bytes(in_by(4, with_option(tagged, put))))

    def reports(
        self, time: int, report: Report, sequence: int = 1, by: int = 0, tag: int = OUR_TAG
    ) -> list[tuple[int, bytes]]:
        """The peer's packet with a report comes by a path."""
        return self.comes(time, by, option(0, sequence, report), tag=tag)


def without_numbers(switch: NumberedSwitch) -> None:
    """The session goes on as one whose peer does not know the option."""
    switch.use(replace(NumberedSession(), mode=SCHEDULE, number=SESSION))
