"""A running edge: `wayname-switch`, `wayname up` with its state file, and this process at the provider's end.

host, port 1 --- switch --- port 2, provider: who sends here is the Internet
                   |
               controller, state file
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from ipaddress import IPv6Address
from pathlib import Path
from types import TracebackType

from wayname.p4_constants import CPU_PORT
from wayname.wire import discovery, icmpv6
from wayname.wire.discovery import HOP_LIMIT, NeighbourAdvertisement, NeighbourSolicitation
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import ICMPV6, Packet
from wayname.wire.mac import Mac
from wayname_lab.programs import program, python

STRANGERS = Mac.parse("02:00:00:00:77:01")  # the provider's router
HOST = Mac.parse("02:00:00:00:00:11")
ROUTER = Mac.parse("02:ed:9e:00:00:64")
EDGE, PROVIDER = IPv6Address("2001:db8:0:1::1"), IPv6Address("2001:db8:0:1::9")
SITE = """
[switch]
address = "{switch}"
[api]
socket = "unix:{folder}/api"
[controller]
state = "{folder}/state"
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 100
[[interface]]
vlan = 10
addresses = ["2001:db8:101:10::1/64"]
[[interface]]
vlan = 100
mac = "{mac}"
addresses = ["{edge}/64"]
[[provider]]
name = "p"
prefix = "2001:db8:101::/48"
via = ["{provider}"]
# Clients are let in as fast as the edge can: how many a second are by default, docs/punts.md says.
[limits]
punts = 100000
port = 100000
"""
HOSTS = "2001:db8:101:10::/64"
HOST_PORT, PROVIDER_PORT = 1, 2
READY_SECONDS = 60.0
PAUSE = 0.05


def switch_address(folder: Path) -> str:
    """Return where the edge's switch serves P4Runtime."""
    return f"unix:{folder}/p4runtime"


def site(folder: Path) -> str:
    """Return the edge's configuration but for its protocol."""
    return SITE.format(switch=switch_address(folder), folder=folder, mac=ROUTER, edge=EDGE, provider=PROVIDER)


def answer_of(port: int, frame: Frame) -> Frame | None:
    """Do what the host and the provider's router do: say where they are, and send back what only passes through."""
    if frame.type != TYPE_IPV6:
        return None
    packet = Packet.decode(frame.payload)
    if packet.destination == EDGE:
        return Frame(frame.source, STRANGERS, TYPE_IPV6, frame.payload)
    if packet.next_header != ICMPV6 or packet.payload[0] != icmpv6.NEIGHBOUR_SOLICITATION:
        return None
    asked = discovery.decode(packet)
    if not isinstance(asked, NeighbourSolicitation) or (port == PROVIDER_PORT and asked.target != PROVIDER):
        return None
    mac = STRANGERS if port == PROVIDER_PORT else HOST
    said = NeighbourAdvertisement(asked.target, mac, solicited=True, override=True).message()
    return Frame(frame.source, mac, TYPE_IPV6, said.packet(asked.target, packet.source, HOP_LIMIT).encode())


class NotReadyError(Exception):
    """The edge did not come up."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Processor time of the edge's processes since they began, in seconds, and the controller's memory in octets."""

    controller: float
    switch: float
    resident: int

    def since(self, before: Spent) -> Spent:
        """Return what was spent after that."""
        return Spent(self.controller - before.controller, self.switch - before.switch, self.resident)


class RunningEdge:
    """`with RunningEdge(...) as edge`: everything is ended with it."""

    def __init__(self, folder: Path, protocols: str, controller: Sequence[str] = ()) -> None:
        self._folder = folder
        self._controller_words = controller or (python(), "-m", "wayname", "up")
        self._protocols = protocols
        self._answered = False
        self._cleanup = ExitStack()

    def __enter__(self) -> RunningEdge:
        with ExitStack() as cleanup:
            self._start(cleanup)
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._cleanup.close()

    def send(self, packet: Packet) -> None:
        """Let a packet come from the provider."""
        self._wire.sendall(Frame(ROUTER, STRANGERS, TYPE_IPV6, packet.encode()).encode())

    def receive(self, take: Callable[[Packet], None], seconds: float) -> None:
        """Take what comes from the edge for so long at most; the provider's router answers for itself."""
        end = time.monotonic() + seconds
        while ready := select.select([self._wire, self._host], [], [], max(0.0, end - time.monotonic()))[0]:
            for wire in ready:
                port = HOST_PORT if wire is self._host else PROVIDER_PORT
                frame = Frame.decode(wire.recv(65536))
                if (answer := answer_of(port, frame)) is not None:
                    wire.sendall(answer.encode())
                    self._answered = True
                elif port == PROVIDER_PORT and frame.type == TYPE_IPV6:
                    take(Packet.decode(frame.payload))
            if time.monotonic() >= end:
                return

    def spent(self) -> Spent:
        """Return what the processes have spent until now."""
        pages = int(Path(f"/proc/{self._controller.pid}/statm").read_text().split()[1])
        resident = pages * os.sysconf("SC_PAGE_SIZE")
        return Spent(_processor_seconds(self._controller), _processor_seconds(self._switch), resident)

    def _start(self, cleanup: ExitStack) -> None:
        listeners = []
        for number in (1, 2):
            listener = cleanup.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            listener.bind(str(self._folder / f"wire-{number}"))
            listener.listen()
            listener.settimeout(READY_SECONDS)
            listeners.append(listener)
        wires = [part for n in (1, 2) for part in ("-i", f"{n}@wire:{self._folder}/wire-{n}")]
        words = [program("wayname-switch"), "--grpc-server-addr", switch_address(self._folder)]
        words += ["--cpu-port", str(CPU_PORT), "--device-id", "1"]
        self._switch = self._spawn(cleanup, "switch", [*words, *wires])
        config = self._folder / "edge.toml"
        config.write_text(site(self._folder) + self._protocols, encoding="utf-8")
        self._controller = self._spawn(cleanup, "controller", [*self._controller_words, "--config", str(config)])
        self._host, self._wire = (cleanup.enter_context(listener.accept()[0]) for listener in listeners)
        self._wait()

    def _spawn(self, cleanup: ExitStack, name: str, words: list[str]) -> subprocess.Popen[bytes]:
        log = cleanup.enter_context((self._folder / f"{name}.log").open("wb"))
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        cleanup.callback(process.wait)
        cleanup.callback(process.kill)
        return process

    def _said(self) -> str:
        return (self._folder / "controller.log").read_text(encoding="utf-8", errors="replace")

    def _wait(self) -> None:
        """Wait until the provider's router has answered: then all that the configuration wants is on the switch."""
        end = time.monotonic() + READY_SECONDS
        while not self._answered:
            if time.monotonic() > end or self._controller.poll() is not None or self._switch.poll() is not None:
                raise NotReadyError(f"the edge did not come up: {self._said().strip().splitlines()[-1:]}")
            self.receive(lambda packet: None, PAUSE)


def _processor_seconds(process: subprocess.Popen[bytes]) -> float:
    """Return the processor time of all threads of a process."""
    threads = Path(f"/proc/{process.pid}/task").iterdir()
    return sum(int((each / "schedstat").read_text().split()[0]) for each in threads) / 1e9
