"""A live edge between two providers that announce the same prefixes by BGP, all in namespaces.

           a: FRR                b: FRR
            |  to-a         to-b   |
host ---- [ the switch, in a namespace ]
            | wan0          wan1 |           TAP devices
          edge: FRR, which prefers a
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from bench.linux.frr import FrrRouter
from bench.linux.frr import missing as missing_for_frr
from bench.routes.edge import Edge
from bench.routes.site import UDP, Sender, batch, prefix, wait, within
from harness.commands import NotStartedError
from harness.namespaces import Nodes
from harness.namespaces import missing as missing_for_nodes
from harness.switches import built_switch
from wayname.adapter.netlink_socket import NAMESPACES, enter, listen, open_in
from wayname.cli.root import wayname
from wayname.netlink.messages import Decoder, Route
from wayname_lab.commands import controller

A, B = "2001:db8:100::1", "2001:db8:200::1"
CONFIG = """
[switch]
address = "unix:{folder}/switch"
admin = "unix:{folder}/admin"
[api]
socket = "unix:{folder}/api"
[[port]]
number = 1
vlan = 10
trusted = true
[[port]]
number = 4
vlan = 100
trusted = true
[[port]]
number = 5
vlan = 200
trusted = true
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
# The kernel drops nexthop objects of a link that loses its carrier, and all their routes without a word. FRR 8.4 does
# not always put these back.
EDGE_ZEBRA = "no zebra nexthop kernel enable\n"
EDGE_BGP = """
route-map nothing deny 10
router bgp 65001
 bgp router-id 192.0.2.1
 no bgp ebgp-requires-policy
 no bgp default ipv4-unicast
 bgp graceful-restart
 bgp graceful-restart preserve-fw-state
 neighbor 2001:db8:100::1 remote-as 65002
 neighbor 2001:db8:100::1 timers connect 1
 neighbor 2001:db8:200::1 remote-as 65003
 neighbor 2001:db8:200::1 timers connect 1
 address-family ipv6 unicast
  neighbor 2001:db8:100::1 activate
  neighbor 2001:db8:100::1 route-map nothing out
  neighbor 2001:db8:100::1 weight 200
  neighbor 2001:db8:200::1 activate
  neighbor 2001:db8:200::1 route-map nothing out
 exit-address-family
"""
PROVIDER_BGP = """
router bgp {own}
 bgp router-id 198.51.100.{number}
 no bgp ebgp-requires-policy
 no bgp default ipv4-unicast
 bgp graceful-restart
 coalesce-time 0
 neighbor {edge} remote-as 65001
 neighbor {edge} timers connect 1
 neighbor {edge} advertisement-interval 0
 address-family ipv6 unicast
  neighbor {edge} activate
  redistribute kernel
 exit-address-family
"""
# A protocol that is no daemon's: FRR takes such routes for the kernel's.
PROTOCOL = 201
PORT = struct.pack("!H", 9)
QUIET = 1.0
SO_RCVBUFFORCE = 33


def missing() -> str | None:
    """Return what this machine lacks for such a site, or None."""
    return missing_for_nodes(tap=True) or missing_for_frr()


@dataclass
class Sink:
    """A provider's end of its link: notes when what it gets was sent."""

    namespace: str
    first_sent: int = 0  # since it was set to 0, in nanoseconds
    last_sent: int = 0  # the newest
    count: int = 0

    def serve(self, ends: threading.Event) -> None:
        """Take frames until told to end."""
        enter(NAMESPACES / self.namespace)
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x86DD)) as link:
            # Packets wait here while others have the processor.
            link.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
            link.bind(("eth0", 0x86DD))
            link.settimeout(0.2)
            while not ends.is_set():
                with contextlib.suppress(TimeoutError, OSError):
                    octets, (_, _, kind, *_) = link.recvfrom(2048)
                    if kind != socket.PACKET_OUTGOING and octets[20] == UDP and octets[56:58] == PORT:
                        (sent,) = struct.unpack_from("!Q", octets, 62)
                        self.first_sent = self.first_sent or sent
                        self.last_sent = max(self.last_sent, sent)
                        self.count += 1


@dataclass
class Ear:
    """Hears when the kernel of the edge is told of routes."""

    namespace: str
    last: int = 0  # nanoseconds
    at: dict[int, int] = field(default_factory=dict)  # by address

    def serve(self, ends: threading.Event) -> None:
        """Listen until told to end."""
        decoder = Decoder()
        with open_in(self.namespace) as events:
            events.settimeout(0.2)
            listen(events, 64 << 20)
            while not ends.is_set():
                try:
                    heard = decoder.decode(events.recv(1 << 17))
                except TimeoutError:
                    continue
                except OSError:
                    # More than the socket holds (ENOBUFS): something was told, whatever it was.
                    self.last = time.monotonic_ns()
                    continue
                for said in heard:
                    if isinstance(said, Route):
                        self.last = time.monotonic_ns()
                        self.at[said.address] = self.last

    def is_quiet(self) -> bool:
        """Whether nothing was heard for a while."""
        return time.monotonic_ns() - self.last > QUIET * 1e9


class Provider:
    """A router whose kernel has routes that its FRR announces, so `ip` announces and withdraws them."""

    def __init__(self, nodes: Nodes, node: str, number: int, edge: str) -> None:
        self._nodes, self._node = nodes, node
        self._text = PROVIDER_BGP.format(own=65000 + number, number=number, edge=edge)
        self._own = 65000 + number
        self._ip = batch(nodes.namespace(node))
        self.frr = FrrRouter(nodes, node)
        self.sink = Sink(nodes.namespace(node))

    def start(self, numbers: Sequence[int]) -> int:
        """Announce these prefixes; return the time before."""
        self.tell(*(f"route add {announced(number)}" for number in numbers))
        self.frr.start_zebra()
        at = time.monotonic_ns()
        self.frr.start_bgpd(self._text)
        return at

    def tell(self, *lines: str) -> int:
        """Have the kernel changed; return the time before."""
        at = time.monotonic_ns()
        assert self._ip.stdin is not None
        self._ip.stdin.write("".join(f"{line}\n" for line in lines))
        return at

    def link(self, state: str) -> int:
        """Let the link have a carrier or none; return the time before."""
        at = time.monotonic_ns()
        self._nodes.ip(self._node, f"link set eth0 {state}")
        return at

    def withdraw(self) -> int:
        """Withdraw all prefixes; return the time before."""
        return self._configure("no redistribute kernel")

    def announce(self) -> int:
        """Announce them again; return the time before."""
        return self._configure("redistribute kernel")

    def close(self) -> None:
        """End what is not a process of the node."""
        self._ip.terminate()
        self._ip.wait()

    def _configure(self, line: str) -> int:
        at = time.monotonic_ns()
        self.frr.tell("configure terminal", f"router bgp {self._own}", "address-family ipv6 unicast", line)
        return at


class BgpSite:
    """All of it."""

    def __init__(self, folder: Path, nodes: Nodes, seed: int) -> None:
        self._folder, self._nodes = folder, nodes
        self._ends = threading.Event()
        self.host = Sender(folder / "1", random.Random(seed))
        self.a = Provider(nodes, "a", 2, "2001:db8:100::2")
        self.b = Provider(nodes, "b", 3, "2001:db8:200::2")
        self.ear = Ear(nodes.namespace("edge"))
        for serve in (self.a.sink.serve, self.b.sink.serve, self.ear.serve):
            threading.Thread(target=serve, args=(self._ends,), daemon=True).start()
        threading.Thread(target=self.host.serve, daemon=True).start()
        file = folder / "edge.toml"
        file.write_text(CONFIG.format(folder=folder, namespace=nodes.namespace("edge")))
        asked = CliRunner().invoke(wayname, ["linux-ports", str(file)])
        if asked.exit_code:
            raise NotStartedError(asked.output)
        self._ports = [*asked.output.split(), "-i", f"1@wire:{folder}/1", "-i", "4@to-a", "-i", "5@to-b"]
        self.switch = self._switch()
        for device, address in (("wan0", "2001:db8:100::2/64"), ("wan1", "2001:db8:200::2/64")):
            nodes.wait_for("edge", "ip", "link", "show", device)
            nodes.ip("edge", f"link set {device} up")
            nodes.address("edge", device, address)
        self.edge = Edge(folder, lambda: nodes.start("switch", *controller(file)))
        wait(self.edge.is_ready, 0.1)
        for address in (A, B):
            nodes.wait_for("edge", "ping", "-c", "1", "-W", "1", address)
        self.daemon = FrrRouter(nodes, "edge")
        self.daemon.start_zebra(EDGE_ZEBRA)
        self.daemon.start_bgpd(EDGE_BGP)

    def _switch(self) -> subprocess.Popen[bytes]:
        sockets = ("--grpc-server-addr", f"unix:{self._folder}/switch", "--admin", f"{self._folder}/admin")
        # As the unit of the package has it.
        state = ("--state", f"{self._folder}/state")
        return self._nodes.start("switch", built_switch(), *sockets, *state, *self._ports)

    def received(self) -> int:
        """Return how many packets either provider got."""
        return self.a.sink.count + self.b.sink.count

    def prefixes_from(self, neighbour: str) -> int:
        """Return how many prefixes the edge's daemon has from a neighbour."""
        said = self.daemon.tell("show bgp ipv6 unicast summary json")
        peer = json.loads(said or "{}").get("peers", {}).get(neighbour, {})
        return int(peer.get("pfxRcd", 0))

    def restart_daemon(self) -> None:
        """Kill the edge's bgpd, and start it again."""
        self.daemon.kill_bgpd()
        self.daemon.start_bgpd(EDGE_BGP)

    def restart_switch(self) -> None:
        """Kill the switch, and start it again."""
        self.switch.kill()
        self.switch.wait()
        self.switch = self._switch()

    def close(self) -> None:
        """End what is not a process of a node."""
        self.host.ends.set()
        self._ends.set()
        self.a.close()
        self.b.close()
        self.edge.close()


def announced(number: int) -> str:
    """Return what makes a route that a provider announces."""
    return f"blackhole {prefix(number)} proto {PROTOCOL}"


def address(number: int) -> int:
    """Return the address of a prefix, as netlink has it."""
    return within(number) - 1


@contextlib.contextmanager
def running(seed: int) -> Iterator[BgpSite]:
    """A site with namespaces of its own; the providers do not announce yet."""
    with Nodes("bgp") as nodes, TemporaryDirectory() as folder:
        nodes.add("edge", "a", "b")
        nodes.add("switch", is_switch=True)
        for provider, own in (("a", A), ("b", B)):
            nodes.join(provider, "eth0", "switch", f"to-{provider}")
            nodes.address(provider, "eth0", f"{own}/64")
            # So that probes of the next hop come back, and its address is there again with its link.
            nodes.run(
                provider, "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1", "net.ipv6.conf.eth0.keep_addr_on_down=1"
            )
        site = BgpSite(Path(folder), nodes, seed)
        try:
            yield site
        finally:
            site.close()
