"""All beyond the edges, as one process: providers, an attacker at each wire, and a neighbour on the LAN who listens.

python -m bench.attacks.world FOLDER      commands come in as JSON lines, answers go out

It forwards what edges and guests send, and floods between that: frames made beforehand, some each millisecond. What
goes towards sources that attackers made up is counted, and goes nowhere.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

from bench.attacks.frames import read_frames, to_group
from bench.attacks.site import (
    BY_SECOND,
    FIRST_LINK,
    FORGED,
    FRESH,
    GUESTS,
    LAN,
    MALLORY,
    MALLORY_NUMBER,
    PROVIDER_MACS,
    PROVIDERS,
    SITES,
    WITNESS,
    A,
    Site,
)
from bench.attacks.wire import Wire
from wayname.wire import icmpv6
from wayname.wire.discovery import ALL_NODES, HOP_LIMIT, NeighbourAdvertisement
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import ICMPV6, UDP, Packet
from wayname.wire.mac import Mac

HEADER = 14
SOURCE_AT, DESTINATION_AT, UPPER_AT = HEADER + 8, HEADER + 24, HEADER + 40
NEXT_HEADER_AT, HOP_LIMIT_AT = HEADER + 6, HEADER + 7
TARGET_AT = UPPER_AT + 8
# Of a packet's source: the octet that says by which provider a guest's packets come.
SECOND_AT = 8 + 6
DHCP_PORTS = (547).to_bytes(2) + (546).to_bytes(2)
# What is taken from a wire, and what is flooded, before something else has its turn.
AT_ONCE = 64
TURN_MS = 1
IDLE_TURN_MS = 20
# How long the listening neighbour has an address that somebody asked for, and when it may have it again: seconds.
LASTS, FORGOTTEN = 5.0, 120.0
_FORGED_OCTETS, _FORGED_BITS = FORGED.network_address.packed[:4], FORGED.network_address.packed[4]


@dataclass(slots=True)
class Counts:
    """What the attackers and the listening neighbour saw since the last flood began."""

    to_forged: int = 0
    to_forged_octets: int = 0
    to_mallory: int = 0  # frames of others
    flooded_unicast: int = 0
    rogue_advertisements: int = 0
    rogue_dhcp: int = 0


@dataclass(slots=True)
class Flood:
    """Frames that are sent again and again, so many a second, until it is over."""

    wire: Wire
    frames: list[bytes]
    rate: float
    most: int
    began: float
    quiet: bool = False  # nobody waits for its end
    sent: int = 0
    octets: int = 0
    refused: int = 0
    ended: float = 0.0

    def turn(self, now: float) -> None:
        """Send what is due; what finds no room is not sent again."""
        due = min(self.most, int((now - self.began) * self.rate)) - self.sent - self.refused
        for _ in range(min(due, AT_ONCE)):
            frame = self.frames[(self.sent + self.refused) % len(self.frames)]
            if self.wire.send(frame):
                self.sent += 1
                self.octets += len(frame)
            else:
                self.refused += 1
        if self.sent + self.refused >= self.most:
            self.ended = now


class World:
    """Wires, the way from each to the others, and floods."""

    def __init__(self, folder: Path) -> None:
        self._wires: dict[str, Wire] = {}
        self._takers: dict[int, tuple[Wire, Callable[[bytes], None]]] = {}
        self._poll = select.poll()
        self._short: dict[bytes, tuple[Wire, bytes]] = {}  # by 48 bits
        self._long: dict[bytes, tuple[Wire, bytes]] = {}  # by 64 bits
        self._addresses: OrderedDict[bytes, float] = OrderedDict()
        self.counts = Counts()
        self.floods: list[Flood] = []
        for site in SITES:
            for index, provider in enumerate(PROVIDERS):
                self._add_provider(folder, site.name, index, provider)
        self._add("mallory", folder / "a-mallory", self._take_at_mallory)
        self._add("witness", folder / "a-witness", self._take_at_witness)
        guests = self._add("guests", folder / "guests", self._take_of_guest)
        for prefix in GUESTS.values():
            self._short[prefix.to_bytes(8)[:6]] = (guests, b"")
        # Guests of the second provider reach site a by its link, whatever they ask for there.
        self._second = (self._wires[f"{A.name}-{PROVIDERS[1]}"], self._start(A, 1))
        self._plain = {subnet.network_address.packed[:8] for subnet in A.subnets("plain")}
        self._router = A.router_mac(LAN)
        self._settle()

    def run(self) -> None:
        """Do what commands say until there are no more."""
        self._poll.register(sys.stdin.fileno(), select.POLLIN)
        _answer(ready=True)
        text = b""
        while True:
            for descriptor, _ in self._poll.poll(TURN_MS if self.floods else IDLE_TURN_MS):
                if descriptor != sys.stdin.fileno():
                    self._drain(descriptor)
                    continue
                read = os.read(descriptor, 1 << 16)
                if not read:
                    return
                *lines, text = (text + read).split(b"\n")
                for line in lines:
                    self._command(json.loads(line))
            now = time.monotonic()
            for flood in self.floods:
                flood.turn(now)
            self._end_floods()

    def _command(self, command: dict[str, Any]) -> None:
        match command["do"]:
            case "flood":
                frames = read_frames(Path(command["file"]))
                wire = self._wires[command["wire"]]
                quiet = command.get("quiet", False)
                if not quiet:
                    self.counts = Counts()
                flood = Flood(wire, frames, command["rate"], command["most"], time.monotonic(), quiet)
                self.floods.append(flood)
            case "counts":
                _answer(**asdict(self.counts))

    def _end_floods(self) -> None:
        for flood in [each for each in self.floods if each.ended]:
            self.floods.remove(flood)
            if flood.quiet:
                continue
            took = flood.ended - flood.began
            _answer(sent=flood.sent, octets=flood.octets, refused=flood.refused, seconds=took, **asdict(self.counts))

    def _add(self, name: str, path: Path, take: Callable[[bytes], None]) -> Wire:
        wire = self._wires[name] = Wire(path)
        self._takers[wire.fileno()] = (wire, take)
        self._poll.register(wire.fileno(), select.POLLIN)
        return wire

    def _add_provider(self, folder: Path, site_name: str, index: int, provider: str) -> None:
        site = next(each for each in SITES if each.name == site_name)
        own, mac = site.link(provider)[2], PROVIDER_MACS[provider]
        name = f"{site_name}-{provider}"
        wire = self._add(name, folder / name, lambda frame: self._take_at_provider(frame, wire, own, mac))
        start = self._start(site, index)
        for prefix in (site.given(provider), site.given(provider, border=True)):
            self._short[prefix.network_address.packed[:6]] = (wire, start)
        self._long[site.link(provider).network_address.packed[:8]] = (wire, start)

    @staticmethod
    def _start(site: Site, index: int) -> bytes:
        """Return how frames from a provider to a site begin."""
        mac = PROVIDER_MACS[PROVIDERS[index]]
        return site.router_mac(FIRST_LINK + index).packed + mac.packed + TYPE_IPV6.to_bytes(2)

    def _take_of_guest(self, packet: bytes) -> None:
        self._route(bytes(HEADER) + packet, self._second if packet[SECOND_AT] & BY_SECOND >> 8 else None)

    def _drain(self, descriptor: int) -> None:
        wire, take = self._takers[descriptor]
        for _ in range(AT_ONCE):
            frame = wire.receive()
            if frame is None:
                return
            take(frame)

    def _take_at_provider(self, frame: bytes, wire: Wire, own: IPv6Address, mac: Mac) -> None:
        if frame[12:HEADER] != b"\x86\xdd" or len(frame) < UPPER_AT:
            return
        if _is_solicitation(frame):
            if frame[TARGET_AT : TARGET_AT + 16] == own.packed:
                wire.send(_advertisement(frame, mac))
        elif not frame[0] & 1:
            self._route(frame)

    def _route(self, frame: bytes, by: tuple[Wire, bytes] | None = None) -> None:
        """Send a packet on, with one hop less."""
        destination = frame[DESTINATION_AT : DESTINATION_AT + 8]
        found = by or self._short.get(destination[:6]) or self._long.get(destination)
        if found is None:
            if destination[:4] == _FORGED_OCTETS and destination[4] & 0xF0 == _FORGED_BITS:
                self.counts.to_forged += 1
                self.counts.to_forged_octets += len(frame)
            return
        wire, start = found
        if frame[HOP_LIMIT_AT] > 1:
            packet = frame[HEADER:HOP_LIMIT_AT] + bytes([frame[HOP_LIMIT_AT] - 1]) + frame[HOP_LIMIT_AT + 1 :]
            wire.send(start + packet)

    def _take_at_mallory(self, frame: bytes) -> None:
        if _is_solicitation(frame):
            target = frame[TARGET_AT : TARGET_AT + 16]
            if target[:8] in self._plain and target[8:] == MALLORY_NUMBER.to_bytes(8):
                self._wires["mallory"].send(_advertisement(frame, MALLORY))
            return
        if frame[12:HEADER] != b"\x86\xdd" or frame[0] & 1:
            return
        octets = frame[DESTINATION_AT : DESTINATION_AT + 16]
        if IPv6Address(octets) in FORGED:
            self.counts.to_forged += 1
            self.counts.to_forged_octets += len(frame)
        elif octets in _VICTIMS or octets[8] == FRESH >> 56 or not _is_hers(frame):
            self.counts.to_mallory += 1

    def _take_at_witness(self, frame: bytes) -> None:
        if frame[12:HEADER] != b"\x86\xdd" or len(frame) < UPPER_AT + 8:
            return
        if _is_solicitation(frame):
            target = frame[TARGET_AT : TARGET_AT + 16]
            if target[:8] in self._plain and target[8] == FRESH >> 56 and self._is_there(target):
                self._wires["witness"].send(_advertisement(frame, WITNESS))
        elif frame[:6] == WITNESS.packed:
            self._answer_echo(frame)
        elif not frame[0] & 1:
            self.counts.flooded_unicast += 1
        elif frame[NEXT_HEADER_AT] == ICMPV6 and frame[UPPER_AT] == icmpv6.ROUTER_ADVERTISEMENT:
            self.counts.rogue_advertisements += frame[6:12] != self._router.packed
        elif frame[NEXT_HEADER_AT] == UDP and frame[UPPER_AT : UPPER_AT + 4] == DHCP_PORTS:
            self.counts.rogue_dhcp += frame[6:12] != self._router.packed

    def _is_there(self, address: bytes) -> bool:
        """Whether the listening neighbour still has an address: some seconds after it was asked for first, none."""
        now = time.monotonic()
        while self._addresses and next(iter(self._addresses.values())) < now - FORGOTTEN:
            self._addresses.popitem(last=False)
        return now - self._addresses.setdefault(address, now) < LASTS

    def _answer_echo(self, frame: bytes) -> None:
        if frame[NEXT_HEADER_AT] != ICMPV6 or frame[UPPER_AT] != icmpv6.ECHO_REQUEST:
            return
        packet = Packet.decode(frame[HEADER:])
        answer = icmpv6.echo_reply(icmpv6.Message.decode(packet)).packet(packet.destination, packet.source)
        self._wires["witness"].send(Frame(self._router, WITNESS, TYPE_IPV6, answer.encode()).encode())

    def _settle(self) -> None:
        """Let the switch of site a learn where the two on its LAN are."""
        for name, mac in (("mallory", MALLORY), ("witness", WITNESS)):
            hello = NeighbourAdvertisement(mac.link_local(), mac).message()
            self._wires[name].send(to_group(hello.packet(mac.link_local(), ALL_NODES, HOP_LIMIT), mac))


_VICTIMS = frozenset(locator.packed for host in A.hosts for locator in host.locators)


def _is_hers(frame: bytes) -> bool:
    """Whether a frame is for the attacker: for her MAC, with any address that she made up, or for her own address."""
    return frame[:6] == MALLORY.packed or frame[DESTINATION_AT + 8 : DESTINATION_AT + 16] == MALLORY_NUMBER.to_bytes(8)


def _is_solicitation(frame: bytes) -> bool:
    return (
        len(frame) >= TARGET_AT + 16
        and frame[NEXT_HEADER_AT] == ICMPV6
        and frame[UPPER_AT] == icmpv6.NEIGHBOUR_SOLICITATION
        and any(frame[SOURCE_AT : SOURCE_AT + 16])
    )


def _advertisement(frame: bytes, mac: Mac) -> bytes:
    """Return the answer to a solicitation."""
    target, asks = (IPv6Address(frame[at : at + 16]) for at in (TARGET_AT, SOURCE_AT))
    answer = NeighbourAdvertisement(target, mac, solicited=True, override=True).message()
    return Frame(Mac.unpack(frame[6:12]), mac, TYPE_IPV6, answer.packet(target, asks, HOP_LIMIT).encode()).encode()


def _answer(**what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    World(Path(sys.argv[1])).run()
