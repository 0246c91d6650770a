"""A site whose IPv4 router is Linux: with the switch between it and its links, or with the links themselves.

lan namespace        switch's namespace               wan namespace
eth0 ============= to-lan  switch  to-wan =============== eth0
                       tap |    | tap
                      lan0 |    | wan0
                       edge's namespace: addresses, nftables
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from bench.transfers import Transfer, transfer
from harness.commands import NotHereError, NotStartedError
from harness.namespaces import Nodes
from harness.namespaces import missing as missing_for_nodes
from harness.switches import built_switch
from wayname.cli.root import wayname
from wayname_lab.commands import controller

SIDES = ("lan", "wan")
NEEDED = ("nft", "iperf3", "ethtool", "ping")
# Off on both ways, so that what is compared is packets and not segments of 64 KiB.
OFFLOADS = ("tso", "gso", "gro", "tx", "rx")
# By side: what the router has, and what the host behind it has.
ROUTER = {"lan": ("192.0.2.1", "2001:db8:1::1"), "wan": ("198.51.100.1", "2001:db8:2::1")}
HOST = {"lan": ("192.0.2.2", "2001:db8:1::2"), "wan": ("198.51.100.2", "2001:db8:2::2")}
MASQUERADE = """
table ip nat {
    chain postrouting {
        type nat hook postrouting priority srcnat
        oifname "wan0" masquerade
    }
}
"""

CONFIG = """
[switch]
address = "unix:{folder}/switch.sock"
[api]
socket = "unix:{folder}/api.sock"
[[port]]
number = 1
name = "lan"
vlan = 10
[[port]]
number = 2
name = "wan"
vlan = 20
{wan}
[[port]]
number = 101
name = "tap-lan"
vlan = 10
[[port]]
number = 102
name = "tap-wan"
vlan = 20
[[interface]]
vlan = 10
name = "lan"
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 20
name = "wan"
addresses = ["2001:db8:2::1/64"]
[linux]
namespace = "{namespace}"
ipv4 = true
[[linux.interface]]
port = 101
name = "lan0"
[[linux.interface]]
port = 102
name = "wan0"
"""


@dataclass(slots=True)
class Site:
    """Its nodes, the folder with the edge's sockets, and its controller if it has an edge."""

    nodes: Nodes
    folder: Path
    controller: subprocess.Popen[bytes] | None = None

    def wayname(self, *words: str) -> str:
        """Run a command of the edge; what it writes."""
        api = f"unix:{self.folder}/api.sock"
        return self.nodes.run("switch", sys.executable, "-m", "wayname", "--api", api, *words)

    def start_controller(self) -> None:
        """Start the edge's controller."""
        self.controller = self.nodes.start("switch", *controller(self.folder / "edge.toml"))

    def transfer(self, *options: str) -> Transfer:
        """Send from the host of the LAN to the other one by IPv4."""
        return transfer(self.nodes, "lan", "wan", HOST["wan"][0], *options)


def missing() -> str | None:
    """Return what such a site lacks on this machine, or None."""
    return missing_for_nodes(*NEEDED, tap=True)


@contextlib.contextmanager
def switched(folder: Path, *, wan: str = "", name: str = "switched") -> Iterator[Site]:
    """The switch between Linux and the links; `wan` are more lines of the port's configuration."""
    with linked(name, "switch") as nodes:
        site = Site(nodes, folder)
        file = folder / "edge.toml"
        file.write_text(CONFIG.format(folder=folder, namespace=nodes.namespace("edge"), wan=wan))
        asked = CliRunner().invoke(wayname, ["linux-ports", str(file)])
        if asked.exit_code:
            raise NotStartedError(asked.output)
        ports = [*asked.output.split(), "-i", "1@to-lan", "-i", "2@to-wan"]
        nodes.start("switch", built_switch(), "--grpc-server-addr", f"unix:{folder}/switch.sock", *ports)
        nodes.wait_for("edge", "ip", "link", "show", "wan0")
        _become_router(nodes)
        site.start_controller()
        nodes.wait_for("lan", "ping", "-c", "1", "-W", "1", HOST["wan"][0])
        yield site


@contextlib.contextmanager
def plain(folder: Path) -> Iterator[Site]:
    """Linux with the links themselves."""
    with linked("plain", "edge") as nodes:
        for side in SIDES:
            nodes.ip("edge", f"link set to-{side} down")
            nodes.ip("edge", f"link set to-{side} name {side}0")
        _become_router(nodes)
        nodes.wait_for("lan", "ping", "-c", "1", "-W", "1", HOST["wan"][0])
        yield Site(nodes, folder)


@contextlib.contextmanager
def linked(name: str, between: str) -> Iterator[Nodes]:
    """Hosts on both sides, whose links end in one namespace."""
    if lacking := missing():
        raise NotHereError(f"needs {lacking}")
    with Nodes(name) as nodes:
        nodes.add(*SIDES, "edge")
        if between != "edge":
            nodes.add(between, is_switch=True)
        for side in SIDES:
            nodes.join(side, "eth0", between, f"to-{side}")
            off = [word for offload in OFFLOADS for word in (offload, "off")]
            for node, device in ((side, "eth0"), (between, f"to-{side}")):
                nodes.run(node, "ethtool", "-K", device, *off)
            four, six = HOST[side]
            nodes.address(side, "eth0", f"{four}/24", f"{six}/64")
        nodes.ip("lan", f"route add default via {ROUTER['lan'][0]}")
        yield nodes


def _become_router(nodes: Nodes) -> None:
    """What an operator does to Linux: addresses, forwarding, and the site's addresses behind one."""
    for side in SIDES:
        four, six = ROUTER[side]
        nodes.ip("edge", f"link set {side}0 up")
        nodes.address("edge", f"{side}0", f"{four}/24", f"{six}/64")
    nodes.run("edge", "sysctl", "-qw", "net.ipv4.ip_forward=1")
    nodes.run("edge", "nft", "-f", "-", text=MASQUERADE)
