"""RFC 6092 before hosts of Linux: what comes in without being asked for, what is let in, and what answers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

import pytest

from harness.commands import command
from harness.namespaces import Nodes, missing
from harness.switches import embedded
from wayname.nptv6 import PrefixMapping
from wayname_lab.commands import controller

WAYNAME = [sys.executable, "-m", "wayname"]
pytestmark = pytest.mark.skipif(missing("ping") is not None, reason=f"needs {missing('ping')}")

HOST, FAR = "fd12:3456:789a:10::80", "2001:db8:f::9"
INSIDE, GIVEN = IPv6Network("fd12:3456:789a::/48"), IPv6Network("2001:db8:101::/48")
OUTSIDE = str(PrefixMapping(INSIDE, GIVEN).out(IPv6Address(HOST)))
CONFIGURATION = """
[switch]
address = "unix:{at}/switch.sock"
[api]
socket = "unix:{at}/api.sock"
[controller]
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


class Network:
    """A host, its edge, a provider's router and a host beyond it: h - edge - p - far."""

    def __init__(self, folder: Path, nodes: Nodes) -> None:
        self.folder = folder
        self.nodes = nodes
        nodes.add("h", "p", "far")
        nodes.add("edge", is_switch=True)
        nodes.join("h", "eth0", "edge", "inside")
        nodes.join("p", "eth0", "edge", "outside")
        nodes.join("far", "eth0", "p", "far")
        nodes.address("h", "eth0", f"{HOST}/64")
        nodes.address("p", "eth0", "2001:db8:0:1::2/64")
        nodes.address("p", "far", "2001:db8:f::1/64")
        nodes.address("far", "eth0", f"{FAR}/64")
        nodes.ip("h", "-6 route add default via fd12:3456:789a:10::1")
        nodes.ip("far", "-6 route add default via 2001:db8:f::1")
        nodes.run("p", "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
        nodes.ip("p", f"-6 route add {GIVEN} via 2001:db8:0:1::1")
        nodes.ip("p", "link set far mtu 1400")

    def start(self) -> None:
        """Start the edge, and programs on hosts that answer on port 8080; return when the edge forwards."""
        configuration = self.folder / "edge.toml"
        configuration.write_text(CONFIGURATION.format(at=self.folder))
        switch = embedded(f"unix:{self.folder}/switch.sock", {1: "inside", 2: "outside"})
        for name, words in (("switch", switch), ("controller", controller(configuration))):
            with (self.folder / f"{name}.log").open("wb") as log:
                self.nodes.start("edge", *words, output=log)
        for host in ("h", "far"):
            echo = self.nodes.start(host, sys.executable, "-c", ECHO, output=subprocess.PIPE)
            assert echo.stdout is not None
            assert echo.stdout.readline() == b"ready\n"
        self.nodes.wait_for("h", "ping", "-6", "-c", "1", "-W", "1", FAR)

    def ping(self, name: str, *words: str) -> str:
        return self.nodes.says(name, "ping", "-6", *words)

    def wayname(self, *words: str) -> str:
        return command([*WAYNAME, *words, "--api", f"unix:{self.folder}/api.sock"])

    def asks(self, name: str, to: str, kind: str = "SOCK_STREAM", wait: float = 5) -> str:
        return self.nodes.run(name, sys.executable, "-c", ASK, kind, to, str(wait)).strip()


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    with Nodes("security") as nodes:
        network = Network(tmp_path_factory.mktemp("simple-security"), nodes)
        network.start()
        yield network


def test_the_inside_connects_asks_pings_and_traces(network: Network) -> None:
    assert network.asks("h", FAR) == "echo"
    assert network.asks("h", FAR, "SOCK_DGRAM") == "echo"
    assert " 0% packet loss" in network.ping("h", "-c", "2", "-i", "0.2", FAR)
    hops = [network.ping("h", "-c", "1", "-t", str(hops), FAR) for hops in (1, 2, 3)]
    assert "From fd12:3456:789a:10::1" in hops[0] and "Time exceeded" in hops[0]
    assert "From 2001:db8:0:1::2" in hops[1] and "Time exceeded" in hops[1]
    assert "1 received" in hops[2]
    assert "mtu" in network.ping("h", "-c", "1", "-M", "do", "-s", "1430", FAR).lower()


def test_the_outside_does_not_but_by_a_pinhole(network: Network) -> None:
    assert network.asks("far", OUTSIDE, wait=1) == "TimeoutError"
    assert network.asks("far", OUTSIDE, "SOCK_DGRAM", wait=1) == "TimeoutError"
    assert network.asks("far", OUTSIDE, wait=30) == "PermissionError", (
        "told, after the SYN that comes seven seconds later"
    )
    assert "0 received" in network.ping("far", "-c", "1", "-W", "1", OUTSIDE)
    drops = network.wayname("drops")
    for words in ("a connection that begins outside", "an echo request from outside", "of no flow that began inside"):
        assert words in drops
    network.wayname("pinhole", "add", HOST, "tcp", "8080")
    assert network.asks("far", OUTSIDE) == "echo"
    assert network.asks("far", OUTSIDE, "SOCK_DGRAM", wait=1) == "TimeoutError"
    network.wayname("pinhole", "remove", HOST, "tcp", "8080")
    assert network.asks("far", OUTSIDE, wait=1) == "TimeoutError"
