"""Two Linux hosts as they are made, offloads on, and who forwards between them.

west host           forwarder           east host
  eth0 ======= to-west   to-east ======= eth0      (with TAP ports the hosts' ends are the switch's own devices)
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.switches import ROOT, built_switch, command

PROGRAM = ROOT / "bench" / "p4" / "two_ports.p4"
ADDRESSES = {"west": ("10.7.0.1", "fd07::1"), "east": ("10.7.0.2", "fd07::2")}
PORTS = {"west": "to-west", "east": "to-east"}
OFFLOADS = ("tso", "gso", "gro", "tx")
STARTS_WITHIN = 60.0
EDGE = """
[switch]
address = "unix:{folder}/p4runtime"
[controller]
api = "unix:{folder}/api"
[[port]]
number = 1
vlan = 1
[[port]]
number = 2
vlan = 1
"""


def missing() -> str | None:
    """Return what this machine lacks, or None."""
    if os.geteuid() != 0:
        return "root"
    programs = [name for name in ("ip", "ethtool", "iperf3") if shutil.which(name) is None]
    if programs:
        return f"the programs {', '.join(programs)}"
    return None if Path("/dev/net/tun").exists() else "/dev/net/tun"


@dataclass(frozen=True, slots=True)
class Transfer:
    """What iperf3 says of one transfer."""

    bits_per_second: float
    octets: int
    retransmissions: int
    datagrams_sent: int
    datagrams_lost: int


@dataclass(frozen=True, slots=True)
class Network:
    """The namespaces `NAME-west`, `NAME-forwarder` and `NAME-east`."""

    name: str

    def inside(self, node: str, *words: str) -> list[str]:
        """A command in a node's namespace."""
        return ["ip", "netns", "exec", f"{self.name}-{node}", *words]

    def ip(self, node: str, words: str) -> None:
        """Run `ip` in a node's namespace."""
        command(["ip", "-n", f"{self.name}-{node}", *words.split()])

    def veth(self) -> None:
        """Join the hosts' eth0 to the forwarder."""
        for host, port in PORTS.items():
            self.ip(host, f"link add eth0 type veth peer name {port} netns {self.name}-forwarder")
            self.ip("forwarder", f"link set {port} up")

    def address(self, offloads: bool) -> None:
        """Give the hosts their addresses, and leave their offloads as they are or turn them off."""
        for host, (ipv4, ipv6) in ADDRESSES.items():
            if not offloads:
                settings = [word for each in OFFLOADS for word in (each, "off")]
                command(self.inside(host, "ethtool", "-K", "eth0", *settings))
            self.ip(host, f"address add {ipv4}/24 dev eth0")
            self.ip(host, f"-6 address add {ipv6}/64 dev eth0 nodad")
            self.ip(host, "link set eth0 up")

    def wait(self) -> None:
        """Return when a packet of each kind goes from west to east and back."""
        end = time.monotonic() + STARTS_WITHIN
        for address in ADDRESSES["east"]:
            ping = self.inside("west", "ping", "-c", "1", "-W", "1", address)
            while subprocess.run(ping, capture_output=True, check=False).returncode:
                if time.monotonic() > end:
                    raise TimeoutError(f"{address} does not answer")

    def iperf(self, address: str, *options: str) -> Transfer:
        """Run one transfer from west to an address of east; `-R` turns it round."""
        server = subprocess.Popen(
            self.inside("east", "iperf3", "-s", "-1", "--forceflush"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        try:
            if server.stdout is not None:
                # It listens when it has said so, in the second of three lines.
                server.stdout.readline(), server.stdout.readline()
            client = self.inside("west", "iperf3", "-J", "-c", address, *options)
            said = subprocess.run(client, capture_output=True, text=True, check=False, timeout=120).stdout
        finally:
            server.kill()
            server.communicate()
        return _transfer(json.loads(said))


def _transfer(said: dict[str, Any]) -> Transfer:
    if "error" in said:
        raise RuntimeError(f"iperf3: {said['error']}")
    end = said["end"]
    received = end["sum_received"]
    udp = "lost_packets" in received
    return Transfer(
        bits_per_second=received["bits_per_second"],
        octets=received["bytes"],
        retransmissions=end["sum_sent"].get("retransmits", 0),
        datagrams_sent=received["packets"] if udp else 0,
        datagrams_lost=received["lost_packets"] if udp else 0,
    )


@contextlib.contextmanager
def network() -> Iterator[Network]:
    """Three namespaces, gone when the block ends."""
    made = Network(f"wayname-offloads-{os.getpid()}")
    nodes = ("west", "forwarder", "east")
    try:
        for node in nodes:
            command(["ip", "netns", "add", f"{made.name}-{node}"])
            made.ip(node, "link set lo up")
        # What the kernel itself would say by the forwarder's interfaces is not its doing.
        quiet = "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6"
        command(made.inside("forwarder", "sh", "-c", quiet))
        yield made
    finally:
        for node in nodes:
            subprocess.run(["ip", "netns", "delete", f"{made.name}-{node}"], capture_output=True, check=False)


@contextlib.contextmanager
def linux(offloads: bool = True, xdp: bool = False) -> Iterator[Network]:
    """Linux's bridge forwards; `xdp` has a program on its interfaces that lets all frames pass."""
    with network() as made, contextlib.ExitStack() as stack:
        made.veth()
        if xdp:
            attach = made.inside("forwarder", sys.executable, "-m", "bench.offloads.xdp_pass", *PORTS.values())
            stack.enter_context(_process(attach))
        made.ip("forwarder", "link add bridge type bridge")
        made.ip("forwarder", "link set bridge up")
        for port in PORTS.values():
            made.ip("forwarder", f"link set {port} master bridge")
        made.address(offloads)
        made.wait()
        yield made


@contextlib.contextmanager
def switch(kind: str, folder: Path, edge: bool = False) -> Iterator[Network]:
    """The switch forwards by ports of a kind: `` (AF_PACKET), `xdp:` or `tap:`; its counters are at `folder/admin`.

    `edge` has a controller set the whole pipeline, with both ports in one VLAN.
    """
    with network() as made, contextlib.ExitStack() as stack:
        if kind != "tap:":
            made.veth()
        interfaces = [
            word for number, port in enumerate(PORTS.values(), 1) for word in ("-i", f"{number}@{kind}{port}")
        ]
        listen = ["--grpc-server-addr", f"unix:{folder / 'p4runtime'}", "--admin", str(folder / "admin")]
        program = ["--cpu-port", "510", "--device-id", "1"] if edge else [str(PROGRAM)]
        process = made.inside("forwarder", built_switch(), *listen, *interfaces, *program)
        stack.enter_context(_process(process, folder / "p4runtime", folder / "log"))
        if kind == "tap:":
            for host, port in PORTS.items():
                made.ip("forwarder", f"link set {port} netns {made.name}-{host} name eth0")
        if edge:
            configuration = folder / "edge.toml"
            configuration.write_text(EDGE.format(folder=folder))
            controller = made.inside("forwarder", sys.executable, "-m", "wayname", "up", "--config", str(configuration))
            stack.enter_context(_process(controller, folder / "api", folder / "controller.log"))
        made.address(offloads=True)
        made.wait()
        yield made


@contextlib.contextmanager
def _process(words: list[str], appears: Path | None = None, log: Path | None = None) -> Iterator[None]:
    """A process, once it has said a line or a file has appeared, until the block ends."""
    output = subprocess.PIPE if log is None else log.open("wb")
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, cwd=ROOT)
    try:
        if appears is None:
            said = process.stdout.readline().decode() if process.stdout is not None else ""
            if "attached" not in said:
                raise RuntimeError(f"`{' '.join(words)}`: {said}")
        else:
            end = time.monotonic() + STARTS_WITHIN
            while not appears.exists():
                if process.poll() is not None or time.monotonic() > end:
                    said = log.read_text(errors="replace") if log is not None else ""
                    raise RuntimeError(f"`{' '.join(words)}` did not start: {said}")
                time.sleep(0.02)
        yield
    finally:
        process.terminate()
        process.communicate()
