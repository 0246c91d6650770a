"""Two Linux hosts as they are made, offloads on, and who forwards between them.

west host           forwarder           east host
  eth0 ======= to-west   to-east ======= eth0      (with TAP ports the hosts' ends are the switch's own devices)
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import ROOT
from bench.transfers import Transfer, transfer
from harness.commands import NotStartedError, wait_until
from harness.namespaces import Nodes
from harness.namespaces import missing as missing_for_nodes
from harness.switches import built_switch
from wayname_lab.commands import controller

PROGRAM = ROOT / "bench" / "p4" / "two_ports.p4"
XDP_PASS = Path(__file__).with_name("xdp_pass.py")
ADDRESSES = {"west": ("10.7.0.1", "fd07::1"), "east": ("10.7.0.2", "fd07::2")}
PORTS = {"west": "to-west", "east": "to-east"}
OFFLOADS = ("tso", "gso", "gro", "tx")
EDGE = """
[switch]
address = "unix:{folder}/p4runtime"
[api]
socket = "unix:{folder}/api"
[[port]]
number = 1
vlan = 1
[[port]]
number = 2
vlan = 1
"""


def missing() -> str | None:
    """Return what this machine lacks, or None."""
    return missing_for_nodes("ethtool", "iperf3", tap=True)


@dataclass(frozen=True, slots=True)
class Network:
    """The nodes `west`, `forwarder` and `east`."""

    nodes: Nodes

    def veth(self) -> None:
        """Join the hosts' eth0 to the forwarder."""
        for host, port in PORTS.items():
            self.nodes.join(host, "eth0", "forwarder", port)

    def address(self, offloads: bool) -> None:
        """Give the hosts their addresses, and leave their offloads as they are or turn them off."""
        for host, (ipv4, ipv6) in ADDRESSES.items():
            if not offloads:
                settings = [word for each in OFFLOADS for word in (each, "off")]
                self.nodes.run(host, "ethtool", "-K", "eth0", *settings)
            self.nodes.address(host, "eth0", f"{ipv4}/24", f"{ipv6}/64")
            self.nodes.ip(host, "link set eth0 up")

    def wait(self) -> None:
        """Return when a packet of each kind goes from west to east and back."""
        for address in ADDRESSES["east"]:
            self.nodes.wait_for("west", "ping", "-c", "1", "-W", "1", address)

    def iperf(self, address: str, *options: str) -> Transfer:
        """Run one transfer from west to an address of east; `-R` turns it round."""
        return transfer(self.nodes, "west", "east", address, *options)


@contextlib.contextmanager
def network(name: str) -> Iterator[Network]:
    """Three namespaces, gone when the block ends."""
    with Nodes(name) as nodes:
        nodes.add("west", "east")
        nodes.add("forwarder", is_switch=True)
        yield Network(nodes)


@contextlib.contextmanager
def linux(offloads: bool = True, xdp: bool = False) -> Iterator[Network]:
    """Linux's bridge forwards; `xdp` has a program on its interfaces that lets all frames pass."""
    with network(f"bridge-{offloads:d}{xdp:d}") as made:
        nodes = made.nodes
        made.veth()
        if xdp:
            words = (sys.executable, str(XDP_PASS), *PORTS.values())
            passing = nodes.start("forwarder", *words, output=subprocess.PIPE)
            said = passing.stdout.readline().decode() if passing.stdout is not None else ""
            if "attached" not in said:
                raise NotStartedError(f"`{' '.join(words)}`: {said}")
        nodes.ip("forwarder", "link add bridge type bridge")
        nodes.ip("forwarder", "link set bridge up")
        for port in PORTS.values():
            nodes.ip("forwarder", f"link set {port} master bridge")
        made.address(offloads)
        made.wait()
        yield made


@contextlib.contextmanager
def switch(kind: str, folder: Path, edge: bool = False) -> Iterator[Network]:
    """The switch forwards by ports of a kind: `` (AF_PACKET), `xdp:` or `tap:`; its counters are at `folder/admin`.

    `edge` has a controller set the whole pipeline, with both ports in one VLAN.
    """
    with network(f"{'edge' if edge else 'ports'}-{kind.rstrip(':') or 'packet'}") as made:
        if kind != "tap:":
            made.veth()
        interfaces = [
            word for number, port in enumerate(PORTS.values(), 1) for word in ("-i", f"{number}@{kind}{port}")
        ]
        listen = ["--grpc-server-addr", f"unix:{folder / 'p4runtime'}", "--admin", str(folder / "admin")]
        program = ["--cpu-port", "510", "--device-id", "1"] if edge else [str(PROGRAM)]
        _start(made.nodes, [built_switch(), *listen, *interfaces, *program], folder / "p4runtime")
        if kind == "tap:":
            for host, port in PORTS.items():
                made.nodes.ip("forwarder", f"link set {port} netns {made.nodes.namespace(host)} name eth0")
        if edge:
            configuration = folder / "edge.toml"
            configuration.write_text(EDGE.format(folder=folder))
            _start(made.nodes, controller(configuration), folder / "api")
        made.address(offloads=True)
        made.wait()
        yield made


def _start(nodes: Nodes, words: list[str], appears: Path) -> None:
    """Start a process of the forwarder, which is there once its socket has appeared."""
    log = appears.with_suffix(".log")
    with log.open("wb") as output:
        process = nodes.start("forwarder", *words, output=output)
    wait_until(lambda: appears.exists() or process.poll() is not None, f"{words[0]} does not start")
    if process.poll() is not None:
        raise NotStartedError(f"`{' '.join(words)}`: {log.read_text(errors='replace')}")
