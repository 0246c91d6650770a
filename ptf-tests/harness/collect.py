"""Everything that a packet caused, and how to know that it is everything.

In process, all outputs are there when the sending returns. On other targets a set of markers follows the packets:
frames that enter by the same port, take the same way through the switch (parser, tables, queues), and leave by each
port and to the controller. A switch keeps the order of packets that take one way; so what has not left a port when its
marker arrives will not come. Nobody waits for time to pass.

    test's packets, marker 1, marker 2, ...  -->  port 1:  [what left here], marker 1
                                                  port 2:  [what left here], marker 2
                                                  ...
                                                  controller:  [what was punted], marker 510

Markers are routed in a VLAN of their own, so that they may leave by the port that they came from, need no flood (which
a copy less or more would disturb), are learnt by nobody, punted for no reason, and are dropped nowhere. They count
where every packet counts: `port_received`, `port_sent`, `ports`, the captures. `entered` and `left` say how many.

A port that takes nothing (it has no VLAN) takes no markers either. There `port_received` tells when the packets have
entered, and markers follow by another port.

A switch that is not given the processor for a while has room for some dozens of frames (BMv2: 64 in a queue), so after
each few frames `port_received` must have counted them before more are sent.
"""

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Protocol

import finsy as fy
import ptf
from ptf import testutils
from ptf.base_tests import BaseTest
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from harness.entries import Entries
from harness.target import Target
from small_site import CPU, OUT, PORTS

MARKER_VLAN = 4000
MARKER_ROUTER = "02:4d:61:72:6b:00"
MARKER_HOST = "02:4d:61:72:6b:01"
MARKER_PREFIX = "fd4d:6172:6b::"
UNDER_WAY = 8


@dataclass(frozen=True, slots=True)
class Punted:
    """A packet-in."""

    reason: int
    port: int
    vlan: int
    packet: bytes


@dataclass(slots=True)
class Collected:
    """What left by each port and what the controller got, each in its order."""

    frames: dict[int, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    punted: list[Punted] = field(default_factory=list)


class Collector(Protocol):
    """Knows when everything is there."""

    # Frames of its own that entered and left by each port in this test.
    entered: Counter[int]
    left: Counter[int]

    def enters(self, port: int) -> None:
        """A frame of the test is sent to a port; CPU stands for packet-outs."""

    def collect(self, test: BaseTest) -> Collected:
        """Everything that was caused by what entered since the last call."""


def punted(target: Target) -> Punted | None:
    """The next packet-in."""
    message = target.next("packet")
    if message is None:
        return None
    packet = fy.P4PacketIn.decode(message, target.schema)
    return Punted(packet["reason"], packet["ingress_port"], packet["vlan"], packet.payload)


def next_frame(test: BaseTest, port: int) -> bytes | None:
    """The next frame that left by a port."""
    result = testutils.dp_poll(test, 0, port)
    return None if isinstance(result, ptf.dataplane.DataPlane.PollFailure) else bytes(result.packet)


class AtOnce:
    """For a target where everything is there already."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.entered: Counter[int] = Counter()
        self.left: Counter[int] = Counter()

    def enters(self, port: int) -> None:
        """It does all it does before the next one."""

    def collect(self, test: BaseTest) -> Collected:
        """Take what is there."""
        found = Collected()
        for port in PORTS:
            while (frame := next_frame(test, port)) is not None:
                found.frames[port].append(frame)
        while (packet := punted(self._target)) is not None:
            found.punted.append(packet)
        return found


class Markers:
    """For targets that work while we look on."""

    def __init__(self, target: Target, entries: Entries, test: str) -> None:
        self._target = target
        self._entries = entries
        # Each marker is another, in all tests: one that was captured may come late.
        self._test = test
        self._ready = False
        self._sequence = 0
        self._received = self._port_received()
        # Frames of the test since the last collection.
        self._sources: Counter[int] = Counter()
        self.entered: Counter[int] = Counter()
        self.left: Counter[int] = Counter()

    def enters(self, port: int) -> None:
        """Let no more be under way than the switch has room for."""
        if port != CPU and self._sources[port] % UNDER_WAY == UNDER_WAY - 1:
            self._wait_for_entry(port)
        self._sources[port] += 1
        self._received[port] += 1

    def collect(self, test: BaseTest) -> Collected:
        """Send markers after the packets, and take all that comes before them."""
        self._set_up()
        found = Collected()
        sources, self._sources = self._sources, Counter()
        for sent_by in sorted(sources):
            source = sent_by
            if sent_by != CPU and not self._entries.holds("ports", port=sent_by):
                self._wait_for_entry(sent_by)
                source = next(port for port in PORTS if self._entries.holds("ports", port=port))
            self._sequence += 1
            for destination in (*PORTS, CPU):
                self._send(test, source, destination)
            for port in PORTS:
                marker = self._left(port)
                while (frame := next_frame(test, port)) != marker:
                    if frame is None:
                        raise AssertionError(f"a marker sent by port {source} did not leave by port {port}")
                    found.frames[port].append(frame)
                self.left[port] += 1
            self._collect_punted(found, source)
        return found

    def _wait_for_entry(self, port: int) -> None:
        until = time.monotonic() + self._target.patience
        while self._port_received()[port] < self._received[port]:
            if time.monotonic() > until:
                raise AssertionError(f"the frames sent to port {port} did not enter")

    def _port_received(self) -> Counter[int]:
        cells = self._target.read([fy.P4CounterEntry("port_received").encode(self._target.schema)])
        return Counter({cell.counter_entry.index.index: cell.counter_entry.data.packet_count for cell in cells})

    def _collect_punted(self, found: Collected, source: int) -> None:
        marker = self._text(CPU)
        while (packet := punted(self._target)) is not None:
            if packet.packet.endswith(marker):
                return
            if packet.vlan != MARKER_VLAN:  # a marker that was captured
                found.punted.append(packet)
        raise AssertionError(f"a marker sent by port {source} did not come to the controller")

    def _send(self, test: BaseTest, source: int, destination: int) -> None:
        frame = self._sent(destination)
        if source == CPU:
            out = fy.P4PacketOut(frame, kind=OUT["PACKET_OUT_SUBMIT"], port=PORTS[0], vlan=0)
            self._target.send(out.encode_update(self._target.schema))
        else:
            self.entered[source] += 1
            self._received[source] += 1
            testutils.send_packet(test, source, frame)

    def _sent(self, destination: int) -> bytes:
        return bytes(self._marker(MARKER_HOST, MARKER_ROUTER, destination, 64))

    def _left(self, destination: int) -> bytes:
        return bytes(self._marker(MARKER_ROUTER, MARKER_HOST, destination, 63))

    def _marker(self, source: str, destination: str, port: int, hop_limit: int) -> Ether:
        address = f"{MARKER_PREFIX}{port:x}"
        ip = IPv6(src=f"{MARKER_PREFIX}ffff", dst=address, hlim=hop_limit)
        tagged = Ether(src=source, dst=destination) / Dot1Q(vlan=MARKER_VLAN)
        return tagged / ip / UDP(sport=port, dport=port) / Raw(self._text(port))

    def _text(self, destination: int) -> bytes:
        return f"{self._test}, marker {self._sequence} to {destination}".encode()

    def _set_up(self) -> None:
        if self._ready:
            return
        self._ready = True
        of_vlan = {"vlan": MARKER_VLAN}
        entry = self._entries.entry
        entities = [
            entry("interfaces", of_vlan, "set_interface", mac=MARKER_ROUTER, address=f"{MARKER_PREFIX}ffff"),
            entry("source_macs", of_vlan, "set_source_mac", mac=MARKER_ROUTER),
            entry("routes", {"destination": f"{MARKER_PREFIX}/64"}, "route_connected", vlan=MARKER_VLAN),
        ]
        for port in (*PORTS, CPU):
            address = f"{MARKER_PREFIX}{port:x}"
            entities.append(
                entry("neighbours", of_vlan | {"address": address}, "set_neighbour", port=port, mac=MARKER_HOST),
            )
        for port in PORTS:
            member = {"port": port} | of_vlan
            entities += [
                entry("vlan_members", member, "admit_to_vlan"),
                entry("vlan_tags", member, "send_tagged"),
                entry("learned_macs", member | {"source": MARKER_HOST}, "known_mac"),
            ]
        self._entries.add(*entities)
