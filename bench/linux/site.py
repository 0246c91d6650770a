"""A site whose IPv4 router is Linux: with the switch between it and its links, or with the links themselves.

lan namespace        switch's namespace               wan namespace
eth0 ============= to-lan  switch  to-wan =============== eth0
                       tap |    | tap
                      lan0 |    | wan0
                       edge's namespace: addresses, nftables
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from bench.linux import ROOT
from harness.switches import NotHereError, NotStartedError, command
from wayname.cli.root import wayname

SWITCH = ROOT / "switch" / "target" / "release" / "wayname-switch"
SIDES = ("lan", "wan")
NEEDED = ("ip", "nft", "iperf3", "ethtool", "ping")
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
PATIENCE = 60

CONFIG = """
[switch]
address = "unix:{folder}/switch.sock"
[controller]
api = "unix:{folder}/api.sock"
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
    """Its namespaces, and the processes in them."""

    name: str
    folder: Path
    processes: list[subprocess.Popen[bytes]]

    def namespace(self, node: str) -> str:
        """Return the name of a node's namespace."""
        return f"{self.name}-{node}"

    def inside(self, node: str, *words: str) -> list[str]:
        """Return a command that runs at a node."""
        return ["ip", "netns", "exec", self.namespace(node), *words]

    def run(self, node: str, *words: str, text: str = "") -> str:
        """Run a command at a node; what it writes."""
        done = subprocess.run(self.inside(node, *words), input=text, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode:
            raise NotStartedError(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def start(self, node: str, *words: str) -> subprocess.Popen[bytes]:
        """Start a process at a node; it ends with the site."""
        process = subprocess.Popen(self.inside(node, *words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def wait_for(self, node: str, *words: str) -> None:
        """Run a command until it succeeds."""
        end = time.monotonic() + PATIENCE
        while subprocess.run(self.inside(node, *words), capture_output=True, timeout=PATIENCE).returncode:
            if time.monotonic() > end:
                raise NotStartedError(f"{' '.join(words)} does not succeed")
            time.sleep(0.1)

    def wayname(self, *words: str) -> str:
        """Run a command of the edge; what it writes."""
        return self.run("switch", sys.executable, "-m", "wayname", "--api", f"unix:{self.folder}/api.sock", *words)

    def iperf3(self, *options: str) -> str:
        """Send from the host of the LAN to the other one by IPv4; what iperf3 says."""
        server = self.start("wan", "iperf3", "-s", "-1")
        self.wait_for("wan", "sh", "-c", "ss -Htln sport = 5201 | grep -q .")
        said = self.run("lan", "iperf3", "-c", HOST["wan"][0], "-J", *options)
        server.wait(PATIENCE)
        return said


def missing() -> str | None:
    """Return what such a site lacks on this machine, or None."""
    if os.geteuid() != 0:
        return "needs root"
    lacking = [name for name in NEEDED if shutil.which(name) is None]
    if lacking:
        return f"needs {', '.join(lacking)}"
    return None if Path("/dev/net/tun").exists() else "needs /dev/net/tun"


@contextlib.contextmanager
def switched(folder: Path, *, wan: str = "") -> Iterator[Site]:
    """The switch between Linux and the links; `wan` are more lines of the port's configuration."""
    with _hosts(f"wayname-{os.getpid()}-s", folder, "switch") as site:
        file = folder / "edge.toml"
        file.write_text(CONFIG.format(folder=folder, namespace=site.namespace("edge"), wan=wan))
        asked = CliRunner().invoke(wayname, ["linux-ports", str(file)])
        if asked.exit_code:
            raise NotStartedError(asked.output)
        ports = [*asked.output.split(), "-i", "1@to-lan", "-i", "2@to-wan"]
        address = f"unix:{folder}/switch.sock"
        site.start("switch", str(SWITCH), "--grpc-server-addr", address, *ports)
        site.wait_for("edge", "ip", "link", "show", "wan0")
        _become_router(site)
        site.start("switch", sys.executable, "-m", "wayname", "up", "--config", str(file))
        site.wait_for("lan", "ping", "-c", "1", "-W", "1", HOST["wan"][0])
        yield site


@contextlib.contextmanager
def plain(folder: Path) -> Iterator[Site]:
    """Linux with the links themselves."""
    with _hosts(f"wayname-{os.getpid()}-p", folder, "edge") as site:
        for side in SIDES:
            site.run("edge", "ip", "link", "set", f"to-{side}", "down")
            site.run("edge", "ip", "link", "set", f"to-{side}", "name", f"{side}0")
        _become_router(site)
        site.wait_for("lan", "ping", "-c", "1", "-W", "1", HOST["wan"][0])
        yield site


@contextlib.contextmanager
def _hosts(name: str, folder: Path, between: str) -> Iterator[Site]:
    """Hosts on both sides, whose links end in one namespace."""
    if lacking := missing():
        raise NotHereError(lacking)
    site = Site(name, folder, [])
    nodes = list(dict.fromkeys((*SIDES, between, "edge")))
    try:
        for node in nodes:
            command(["ip", "netns", "add", site.namespace(node)])
            site.run(node, "ip", "link", "set", "lo", "up")
        if between != "edge":
            # The switch has the interfaces; the kernel must not answer beside it.
            site.run(between, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
        for side in SIDES:
            peer = ["type", "veth", "peer", "name", f"to-{side}", "netns", site.namespace(between)]
            command(["ip", "-n", site.namespace(side), "link", "add", "eth0", *peer])
            off = [word for offload in OFFLOADS for word in (offload, "off")]
            for node, device in ((side, "eth0"), (between, f"to-{side}")):
                site.run(node, "ethtool", "-K", device, *off)
                site.run(node, "ip", "link", "set", device, "up")
            four, six = HOST[side]
            site.run(side, "ip", "address", "add", f"{four}/24", "dev", "eth0")
            site.run(side, "ip", "address", "add", f"{six}/64", "dev", "eth0", "nodad")
        site.run("lan", "ip", "route", "add", "default", "via", ROUTER["lan"][0])
        yield site
    finally:
        for process in site.processes:
            process.terminate()
        for process in site.processes:
            process.wait()
        for node in nodes:
            subprocess.run(["ip", "netns", "delete", site.namespace(node)], capture_output=True)


def _become_router(site: Site) -> None:
    """What an operator does to Linux: addresses, forwarding, and the site's addresses behind one."""
    for side in SIDES:
        four, six = ROUTER[side]
        site.run("edge", "ip", "link", "set", f"{side}0", "up")
        site.run("edge", "ip", "address", "add", f"{four}/24", "dev", f"{side}0")
        site.run("edge", "ip", "address", "add", f"{six}/64", "dev", f"{side}0", "nodad")
    site.run("edge", "sysctl", "-qw", "net.ipv4.ip_forward=1")
    site.run("edge", "nft", "-f", "-", text=MASQUERADE)
