"""RFC 6092 before hosts of Linux: what comes in without being asked for, what is let in, and what answers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

import pytest

from wayname.nptv6 import PrefixMapping

ROOT = Path(__file__).parents[2]
SWITCH = ROOT / "switch" / "target" / "release" / "wayname-switch"
WAYNAME = [sys.executable, "-m", "wayname"]
MAY = os.geteuid() == 0 and shutil.which("ip") is not None and shutil.which("ethtool") is not None
pytestmark = pytest.mark.skipif(not MAY, reason="needs root, ip and ethtool")

HOST, FAR = "fd12:3456:789a:10::80", "2001:db8:f::9"
PATIENCE = 120  # pings
INSIDE, GIVEN = IPv6Network("fd12:3456:789a::/48"), IPv6Network("2001:db8:101::/48")
OUTSIDE = str(PrefixMapping(INSIDE, GIVEN).out(IPv6Address(HOST)))
CONFIGURATION = """
[switch]
address = "unix:{at}/switch.sock"
[controller]
api = "unix:{at}/api.sock"
state = "{at}/edge.state"
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 100
[[interface]]
vlan = 10
addresses = ["fd12:3456:789a:10::1/64"]
[[interface]]
vlan = 100
addresses = ["2001:db8:0:1::1/64"]
[[provider]]
name = "p"
prefix = "2001:db8:101::/48"
via = ["2001:db8:0:1::2"]
[[route]]
prefix = "::/0"
via = ["2001:db8:0:1::2"]
[[nptv6]]
inside = "fd12:3456:789a::/48"
"""
ECHO = """
import socket, threading
datagrams, server = (socket.socket(socket.AF_INET6, kind) for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM))
def answer():
    while True:
        datagrams.sendto(*datagrams.recvfrom(2000))
for each in (datagrams, server):
    each.bind(("::", 8080))
server.listen()
threading.Thread(target=answer, daemon=True).start()
print("ready", flush=True)
while True:
    peer = server.accept()[0]
    peer.sendall(peer.recv(2000))
    peer.close()
"""
ASK = """
import socket, sys
kind = getattr(socket, sys.argv[1])
with socket.socket(socket.AF_INET6, kind) as asking:
    asking.settimeout(float(sys.argv[3]))
    try:
        asking.connect((sys.argv[2], 8080))
        asking.send(b"echo")
        print(asking.recv(2000).decode())
    except OSError as error:
        print(type(error).__name__)
"""


def run(*words: str | Path, check: bool = True) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=60)
    assert not check or done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout + done.stderr


class Network:
    """A host, its edge, a provider's router and a host beyond it: h - edge - p - far."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self._stack = stack
        self.names = {name: f"wss{os.getpid()}-{name}" for name in ("h", "edge", "p", "far")}
        for name in self.names.values():
            run("ip", "netns", "add", name)
            stack.callback(run, "ip", "netns", "del", name, check=False)
        self._link("h", "edge", "inside")
        self._link("p", "edge", "outside")
        self._link("far", "p", "far")
        self._address("h", "eth0", f"{HOST}/64", "fd12:3456:789a:10::1")
        self._address("p", "eth0", "2001:db8:0:1::2/64")
        self._address("p", "far", "2001:db8:f::1/64")
        self._address("far", "eth0", f"{FAR}/64", "2001:db8:f::1")
        self.at("p", "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
        self.at("p", "ip", "-6", "route", "add", str(GIVEN), "via", "2001:db8:0:1::1")
        self.at("p", "ip", "link", "set", "far", "mtu", "1400")

    def _link(self, host: str, peer: str, device: str) -> None:
        ends = (("eth0", self.names[host]), (device, self.names[peer]))
        (first, here), (second, there) = ends
        run("ip", "link", "add", first, "netns", here, "type", "veth", "peer", "name", second, "netns", there)
        for name, space in ends:
            run("ip", "netns", "exec", space, "sysctl", "-qw", f"net.ipv6.conf.{name}.accept_dad=0")
            if space == self.names["edge"]:
                run("ip", "netns", "exec", space, "sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1")
            for offload in ("tso", "gso", "gro", "tx"):
                run("ip", "netns", "exec", space, "ethtool", "-K", name, offload, "off")
            run("ip", "-n", space, "link", "set", name, "up")

    def _address(self, name: str, device: str, address: str, router: str | None = None) -> None:
        self.at(name, "ip", "address", "add", address, "dev", device, "nodad")
        if router:
            self.at(name, "ip", "-6", "route", "add", "default", "via", router)

    def at(self, name: str, *words: str | Path, check: bool = True) -> str:
        return run("ip", "netns", "exec", self.names[name], *words, check=check)

    def start(self, name: str, *words: str | Path) -> subprocess.Popen[str]:
        """Start a program that ends with the network."""
        log = self.folder / f"{Path(str(words[0])).name}-{name}.log"
        command = ["ip", "netns", "exec", self.names[name], *map(str, words)]
        with log.open("w") as errors:
            program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        self._stack.callback(program.wait, 10)
        self._stack.callback(program.terminate)
        return program

    def echo(self, name: str) -> None:
        """Let a host answer on port 8080."""
        program = self.start(name, sys.executable, "-c", ECHO)
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"

    def wait(self) -> None:
        """Wait until the edge forwards."""
        for _ in range(PATIENCE):
            if "1 received" in self.at("h", "ping", "-6", "-c", "1", "-W", "1", FAR, check=False):
                return
            time.sleep(1)
        raise AssertionError("\n".join(log.read_text() for log in self.folder.glob("*.log")))

    def wayname(self, *words: str) -> str:
        return run(*WAYNAME, *words, "--api", f"unix:{self.folder}/api.sock")

    def asks(self, name: str, to: str, kind: str = "SOCK_STREAM", wait: float = 5) -> str:
        return self.at(name, sys.executable, "-c", ASK, kind, to, str(wait)).strip()


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    folder = tmp_path_factory.mktemp("simple-security")
    with ExitStack() as stack:
        network = Network(folder, stack)
        switch: list[str | Path] = [
            SWITCH,
            "-i",
            "1@inside",
            "-i",
            "2@outside",
            "--cpu-port",
            "510",
            "--device-id",
            "1",
        ]
        configuration = folder / "edge.toml"
        configuration.write_text(CONFIGURATION.format(at=folder))
        network.start("edge", *switch, "--grpc-server-addr", f"unix:{folder}/switch.sock")
        network.start("edge", *WAYNAME, "up", "--config", configuration)
        for name in ("h", "far"):
            network.echo(name)
        network.wait()
        yield network


def test_the_inside_connects_asks_pings_and_traces(network: Network) -> None:
    assert network.asks("h", FAR) == "echo"
    assert network.asks("h", FAR, "SOCK_DGRAM") == "echo"
    assert " 0% packet loss" in network.at("h", "ping", "-6", "-c", "2", "-i", "0.2", FAR)
    hops = [network.at("h", "ping", "-6", "-c", "1", "-t", str(hops), FAR, check=False) for hops in (1, 2, 3)]
    assert "From fd12:3456:789a:10::1" in hops[0] and "Time exceeded" in hops[0]
    assert "From 2001:db8:0:1::2" in hops[1] and "Time exceeded" in hops[1]
    assert "1 received" in hops[2]
    assert "mtu" in network.at("h", "ping", "-6", "-c", "1", "-M", "do", "-s", "1430", FAR, check=False).lower()


def test_the_outside_does_not_but_by_a_pinhole(network: Network) -> None:
    assert network.asks("far", OUTSIDE, wait=1) == "TimeoutError"
    assert network.asks("far", OUTSIDE, "SOCK_DGRAM", wait=1) == "TimeoutError"
    assert network.asks("far", OUTSIDE, wait=30) == "PermissionError", (
        "told, after the SYN that comes seven seconds later"
    )
    assert "0 received" in network.at("far", "ping", "-6", "-c", "1", "-W", "1", OUTSIDE, check=False)
    drops = network.wayname("drops")
    for words in ("a connection that begins outside", "an echo request from outside", "of no flow that began inside"):
        assert words in drops
    network.wayname("pinhole", "add", HOST, "tcp", "8080")
    assert network.asks("far", OUTSIDE) == "echo"
    assert network.asks("far", OUTSIDE, "SOCK_DGRAM", wait=1) == "TimeoutError"
    network.wayname("pinhole", "remove", HOST, "tcp", "8080")
    assert network.asks("far", OUTSIDE, wait=1) == "TimeoutError"
