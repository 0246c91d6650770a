"""A scheduled session of ESP whose packets are numbered by path, right before the ESP header, and its peer's edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from carriers import ipv6, octets
from esp_site import ESP, ESP_SESSION, OUR_HIT, OUR_SPI, PEERS_HIT, PEERS_SPI, EspSession, esp, spi
from numbered_switch import (
    COUNTED,
    DESTINATION_OPTIONS,
    NUMBERS,
    OPTION,
    Numbered,
    Report,
    option,
    read_option,
    with_option,
)
from ordered_switch import BUFFERED
from schedule_site import MOST_PATHS, SCHEDULE, Schedule, locator
from schedule_switch import ScheduledSwitch
from session_site import LOCAL, REMOTE_1, from_host, in_by

from small_site import CPU, HOST, Entry
from wayname.p4_constants import SessionMode

NUMBER, ORDER = SessionMode.NUMBER, SessionMode.ORDER
HOST_PORT, EDGE_PORT = 1, 4
LONE_OCTETS = 8  # of an ESP header with nothing behind it


@dataclass(frozen=True)
class NumberedEspSession(EspSession):
    """Its paths leave from locators that tell them apart, and all end at one of the peer's."""

    mode: int = SCHEDULE | NUMBER
    action: str = "verify"

    def entries(self) -> Iterator[Entry]:
        yield from (each for each in super().entries() if each.table not in {"paths", "locator_pairs", "spis"})
        yield Entry("routes", {"destination": "2001:db8:1:a::/64"}, "route_connected", {"vlan": 1})
        yield spi(REMOTE_1, PEERS_SPI)
        for path in range(MOST_PATHS):
            here = locator(path)
            yield spi(here, OUR_SPI)
            yield Entry("neighbours", {"vlan": 1, "address": here}, "set_neighbour", {"port": 1, "mac": HOST[1]})
            bears: dict[str, int | str] = {"source": here, "destination": REMOTE_1, "vrf": 0, "spi": PEERS_SPI}
            yield Entry("paths", {"session": self.number, "path": path}, "send_beet", bears)
            came: dict[str, int | str] = {"session": self.number, "source": REMOTE_1, "destination": here}
            yield Entry("locator_pairs", came, "on_path", {"path": path})


@dataclass(frozen=True)
class OrderedEspSession(NumberedEspSession):
    mode: int = SCHEDULE | NUMBER | ORDER


class Ordered(NamedTuple):
    """A packet between edges with an order: its slot and number there, and the ESP behind that."""

    slot: int
    sequence: int
    order: int
    copies: int
    packet: bytes


def sealed(sequence: int, length: int = 1000) -> bytes:
    """An ESP packet of our host, of so many octets in all."""
    return ipv6(ESP, PEERS_SPI.to_bytes(4) + sequence.to_bytes(4) + bytes(length - 48), LOCAL, REMOTE_1)


def before_esp(slot: int, sequence: int, report: Report | None = None, counted: int = COUNTED) -> bytes:
    """The option of a packet of the peer."""
    return option(slot, sequence, report, follows=ESP, counted=counted)


def ordered_before_esp(slot: int, sequence: int, order: int, wait: int, copies: int = 0) -> bytes:
    """The same with an order."""
    start = bytes([ESP, 1, OPTION, 12, 2 << 4 | COUNTED << 3 | slot]) + (sequence % NUMBERS).to_bytes(3)
    return start + (order % 2**32).to_bytes(4) + bytes([copies]) + wait.to_bytes(3)


def lone(spi_of_receiver: int, by: int = 0) -> bytes:
    """An ESP header of the peer with nothing behind it, as it comes by a path."""
    return ipv6(ESP, spi_of_receiver.to_bytes(4) + bytes(4), REMOTE_1, locator(by))


def read(frame: bytes) -> Numbered:
    """A frame to the peer; what is behind its option is ESP."""
    packet = frame[14:]
    assert packet[6] == DESTINATION_OPTIONS, "it bears the option"
    return read_option(packet, 40, ESP)


def read_order(frame: bytes) -> Ordered:
    """A frame to the peer that has an order."""
    packet = frame[14:]
    assert packet[6] == DESTINATION_OPTIONS
    assert packet[40:44] == bytes([ESP, 1, OPTION, 12])
    assert packet[44] >> 4 == 2
    number = int.from_bytes(packet[45:48])
    return Ordered(packet[44] & 7, number, int.from_bytes(packet[48:52]), packet[52], packet[56:])


class NumberedEspSwitch(ScheduledSwitch):
    """The embedded switch with one such session."""

    scheduled = NumberedEspSession

    def __init__(self, schedule: Schedule, backend: str = "jit", program: Path | None = None) -> None:
        assert schedule.session == ESP_SESSION
        super().__init__(schedule, backend, program)

    @property
    def time(self) -> int:
        """Microseconds since it began."""
        return (self.now - self.begin) // 1_000

    def frames(self, time: int, packet: bytes) -> list[bytes]:
        """What leaves for the peer when the host sends this."""
        return [frame for port, frame in self.at(time, HOST_PORT, bytes(from_host(packet))) if port != CPU]

    def numbers(self, time: int, packet: bytes | None = None) -> Numbered:
        """A host's packet as it goes to the peer."""
        (frame,) = self.frames(time, packet or sealed(time % 2**32))
        return read(frame)

    def comes(self, time: int, by: int, put: bytes, packet: bytes | None = None) -> list[tuple[int, bytes]]:
        """A packet of the peer by a path, with this before its ESP header; what the switch sends for it."""
        inner = packet or esp(REMOTE_1, locator(by), OUR_SPI)
        return self.at(time, EDGE_PORT, bytes(in_by(EDGE_PORT, with_option(inner, put))))

    def reports(self, time: int, report: Report, sequence: int = 1, by: int = 0) -> list[tuple[int, bytes]]:
        """The peer's packet with a report comes by a path."""
        return self.comes(time, by, before_esp(0, sequence, report))

    def crosses(self, time: int, frame: bytes) -> list[tuple[int, bytes]]:
        """What another such switch sent to its peer comes here, whose locators and SPI are the other way round."""
        packet = frame[14:]
        at = packet.index(PEERS_SPI.to_bytes(4), 40)
        inside = packet[:8] + packet[24:40] + packet[8:24] + packet[40:at] + OUR_SPI.to_bytes(4) + packet[at + 4 :]
        return self.at(max(time, self.time), EDGE_PORT, bytes(in_by(EDGE_PORT, inside)))

    def rekeys(self, ours: int, peers: int) -> None:
        """The hosts chose other SPIs; the old ones stay for a while."""
        hits: dict[str, int | str] = {"local": OUR_HIT, "remote": PEERS_HIT}
        self.add("spis", "admit_esp", {"destination": REMOTE_1, "spi": peers}, hits)
        self.add("spis", "admit_esp", {"destination": locator(0), "spi": ours}, hits)


class OrderedEspSwitch(NumberedEspSwitch):
    """The same on the program with packet buffers, where both edges put packets in order."""

    scheduled = OrderedEspSession
    program = BUFFERED

    def orders(self, time: int, sequence: int, length: int = 1000) -> Ordered:
        """A host's packet as it goes to the peer."""
        (frame,) = self.frames(time, sealed(sequence, length))
        return read_order(frame)


def host_got(outputs: list[tuple[int, bytes]]) -> list[bytes]:
    """The packets that went to the host."""
    return [frame[14:] for port, frame in outputs if port == HOST_PORT]


def peer_got(outputs: list[tuple[int, bytes]]) -> list[bytes]:
    """The frames that went to the peer."""
    return [frame for port, frame in outputs if port == EDGE_PORT]


def with_headers(packet: bytes, first: int, headers: bytes) -> bytes:
    """The packet with extension headers of its host before ESP."""
    length = len(packet) - 40 + len(headers)
    return packet[:4] + length.to_bytes(2) + bytes([first]) + packet[7:40] + headers + packet[40:]


def routed_once(address: str, follows: int) -> bytes:
    """A routing header of type 4 that has been travelled."""
    return bytes([follows, 2, 4, 0, 0, 0, 0, 0]) + octets(address)
