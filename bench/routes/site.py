"""A live edge whose routes are a kernel's: namespace, controller, switch, and on its wires a host and two providers."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.routes.edge import Edge, processor_time
from harness.commands import wait_until
from harness.namespaces import Nodes
from harness.switches import embedded
from wayname.wire import discovery, icmpv6, ipv6
from wayname.wire.discovery import HOP_LIMIT, NeighbourAdvertisement, NeighbourSolicitation
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.mac import Mac
from wayname_lab.commands import controller

# The kernel whose routes these are, and the other ends of its links.
NEAR, FAR = "near", "far"
CONFIG = """
[switch]
address = "unix:{folder}/switch"
[api]
socket = "unix:{folder}/api"
[[port]]
number = 1
vlan = 10
trusted = true
[[port]]
number = 4
vlan = 100
[[port]]
number = 5
vlan = 200
[[port]]
number = 104
vlan = 100
[[port]]
number = 105
vlan = 200
[[interface]]
vlan = 10
mac = "02:00:00:00:00:0a"
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 100
mac = "02:00:00:00:00:0b"
addresses = ["2001:db8:100::2/64"]
[[interface]]
vlan = 200
mac = "02:00:00:00:00:0c"
addresses = ["2001:db8:200::2/64"]
[linux]
namespace = "{namespace}"
[[linux.interface]]
port = 104
name = "wan0"
[[linux.interface]]
port = 105
name = "wan1"
[[route]]
prefix = "::/0"
via = ["2001:db8:200::1"]
"""
ROUTER, HOST = Mac.parse("02:00:00:00:00:0a"), Mac.parse("02:00:00:00:00:11")
SOURCE = IPv6Address("2001:db8:1::11")
A, B = IPv6Address("2001:db8:100::1"), IPv6Address("2001:db8:200::1")
UDP = 17
INTERVAL = 0.0005
PATIENCE = 120.0


def prefix(number: int) -> str:
    """Return one of the prefixes that the providers announce."""
    return f"2001:{0x1000 + (number >> 16):x}:{number & 0xFFFF:x}::/48"


def within(number: int) -> int:
    """Return an address in it."""
    return int(IPv6Address(prefix(number).removesuffix("/48"))) + 1


@dataclass
class Provider:
    """A router at the end of a wire: says where it is, returns probes, and notes when what it gets was sent."""

    path: Path
    mac: Mac
    address: IPv6Address
    last_sent: int = 0  # the newest, in nanoseconds
    count: int = 0

    def serve(self) -> None:
        """Answer until the wire ends."""
        with _listening(self.path) as listener, contextlib.suppress(OSError):
            wire, _ = listener.accept()
            while octets := wire.recv(65536):
                self._take(octets, wire)

    def _take(self, octets: bytes, wire: socket.socket) -> None:
        if octets[20] == UDP:
            (sent,) = struct.unpack_from("!Q", octets, 62)
            self.last_sent = max(self.last_sent, sent)
            self.count += 1
            return
        try:
            frame = Frame.decode(octets)
            packet = ipv6.Packet.decode(frame.payload)
            if packet.destination == packet.source and frame.destination == self.mac:
                back = ipv6.Packet(packet.source, packet.destination, packet.next_header, packet.payload, 254)
                wire.send(Frame(frame.source, self.mac, TYPE_IPV6, back.encode()).encode())
            elif packet.payload[:1] == bytes((icmpv6.NEIGHBOUR_SOLICITATION,)):
                asked = discovery.decode(packet)
                if isinstance(asked, NeighbourSolicitation) and asked.target == self.address:
                    said = NeighbourAdvertisement(self.address, self.mac, solicited=True, override=True).message()
                    answer = said.packet(self.address, packet.source, HOP_LIMIT)
                    wire.send(Frame(frame.source, self.mac, TYPE_IPV6, answer.encode()).encode())
        except DecodeError:
            return


@dataclass
class Sender:
    """A host that sends a packet every half millisecond, each to one of some addresses."""

    path: Path
    rng: random.Random
    numbers: Sequence[int] = ()
    count: int = 0
    ends: threading.Event = field(default_factory=threading.Event)

    def serve(self) -> None:
        """Send until told to end."""
        with _listening(self.path) as listener:
            while not self.ends.is_set():
                wire, _ = listener.accept()
                # A switch that was killed comes again.
                with wire, contextlib.suppress(OSError):
                    self._send(wire)

    def _send(self, wire: socket.socket) -> None:
        head = ROUTER.packed + HOST.packed + b"\x86\xdd"
        at = time.monotonic()
        while not self.ends.is_set():
            if numbers := self.numbers:
                udp = struct.pack("!HHHHQ", 9, 9, 16, 1, time.monotonic_ns())
                packet = ipv6.Packet(SOURCE, IPv6Address(within(self.rng.choice(numbers))), UDP, udp, 64)
                wire.send(head + packet.encode())
                self.count += 1
            at = max(at + INTERVAL, time.monotonic() - 1)
            time.sleep(max(0.0, at - time.monotonic()))


class Site:
    """All of it; `ip` changes the kernel, and the time when it was told to is what figures begin at."""

    def __init__(self, folder: Path, nodes: Nodes, seed: int) -> None:
        self.folder = folder
        self.a = Provider(folder / "4", Mac.parse("02:00:00:00:00:64"), A)
        self.b = Provider(folder / "5", Mac.parse("02:00:00:00:00:c8"), B)
        self.host = Sender(folder / "1", random.Random(seed))
        (folder / "edge.toml").write_text(CONFIG.format(folder=folder, namespace=nodes.namespace(NEAR)))
        for each in (self.a, self.b, self.host):
            threading.Thread(target=each.serve, daemon=True).start()
        wires = {number: f"wire:{folder}/{number}" for number in (1, 4, 5)}
        self.switch = self._started(embedded(f"unix:{folder}/switch", wires))
        self.edge = Edge(folder, lambda: self._started(controller(folder / "edge.toml")))
        self._ip = {node: batch(nodes.namespace(node)) for node in (NEAR, FAR)}

    def _started(self, command: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def ip(self, *lines: str, at_far_end: bool = False) -> int:
        """Have the kernel changed; return the time before."""
        at = time.monotonic_ns()
        told = self._ip[FAR if at_far_end else NEAR].stdin
        assert told is not None
        told.write("".join(f"{line}\n" for line in lines))
        return at

    def cpu(self) -> tuple[float, float]:
        """Return the seconds of processor time that controller and switch have taken."""
        return processor_time(self.edge.controller.pid), processor_time(self.switch.pid)

    def close(self) -> None:
        """End all of it."""
        self.host.ends.set()
        for told in self._ip.values():
            told.terminate()
            told.wait()
        self.edge.close()
        self.switch.terminate()
        self.switch.wait()


@contextlib.contextmanager
def running(seed: int) -> Iterator[Site]:
    """A site with namespaces of its own."""
    with Nodes("routes") as nodes, TemporaryDirectory() as folder:
        # The far ends are not of this kernel's routes, as a provider's are not.
        nodes.add(NEAR, FAR)
        for device, address in (("wan0", "2001:db8:100::2/64"), ("wan1", "2001:db8:200::2/64")):
            nodes.join(NEAR, device, FAR, device)
            nodes.address(NEAR, device, address)
        site = Site(Path(folder), nodes, seed)
        try:
            yield site
        finally:
            site.close()


def wait(until: Callable[[], bool], pause: float = 0.02) -> None:
    """Wait until something is so; raise an error if it is not within two minutes."""
    wait_until(until, "what was waited for", pause, PATIENCE)


def batch(namespace: str) -> subprocess.Popen[str]:
    """Start what takes lines of `ip -6` for a namespace."""
    command = ["ip", "-6", "-n", namespace, "-batch", "-"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, text=True, bufsize=1)


def _listening(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(path))
    listener.listen()
    return listener
