"""Kea delegates the edge its prefix, radvd says who the router is; then Kea gives another and forgets the first."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.linux.connection import Connection, serve
from bench.linux.isp import DAEMONS, Isp
from bench.linux.site import NEEDED, Site, linked
from harness.commands import wait_until
from harness.namespaces import missing
from harness.switches import built_switch

LACKING = missing(*NEEDED, *DAEMONS, tap=True)
pytestmark = pytest.mark.skipif(LACKING is not None, reason=f"needs {LACKING}")

TARGET = "2001:db8:f::1"
HOST = "fd12:3456:789a:10::2"
EDGE = "fe80::e"
FIRST, SECOND = "2001:db8:a1::", "2001:db8:a2::"
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
[[interface]]
vlan = 10
name = "lan"
addresses = ["fd12:3456:789a:10::1/64", "<isp>::10:0:0:0:1/64"]
advertise = true
[[interface]]
vlan = 20
name = "wan"
addresses = ["fe80::e/64"]
[[provider]]
name = "isp"
prefix = "dhcpv6-pd"
prefix_length = 48
interface = "wan"
[[nptv6]]
inside = "fd12:3456:789a::/48"
"""


class Lab:
    """The edge, a host, and an ISP with the daemons that ISPs have."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.connections: list[Connection] = []
        site.nodes.run("wan", "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
        site.nodes.run("wan", "ip", "address", "add", f"{TARGET}/128", "dev", "lo")
        for prefix in (FIRST, SECOND):
            site.nodes.run("wan", "ip", "-6", "route", "add", f"{prefix}/48", "via", EDGE, "dev", "eth0")
        site.nodes.run("lan", "ip", "address", "add", f"{HOST}/64", "dev", "eth0", "nodad")
        self.isp = Isp(site.nodes, "wan", "eth0", site.folder)
        self.isp.advertise()
        serve(site.nodes, "wan")
        self.kea = self.isp.delegate(FIRST)

    def provider(self) -> dict[str, object]:
        """Return what the edge says of its provider."""
        [provider] = json.loads(self.site.wayname("providers", "--json"))
        assert isinstance(provider, dict)
        return provider

    def connect(self) -> Connection:
        """Return a connection of the host."""
        connection = Connection(self.site.nodes, "lan", HOST, TARGET)
        self.connections.append(connection)
        return connection

    def kinds(self) -> list[str]:
        """Return the kinds of all events."""
        events = self.site.wayname("events", "--json").splitlines()
        return [json.loads(line)["kind"] for line in events]

    def addresses(self) -> str:
        """Return the addresses of the host."""
        return self.site.nodes.run("lan", "ip", "-6", "address", "show", "dev", "eth0")


def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    wait_until(is_so, "what was waited for", pause=0.5)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with linked("delegation", "switch") as nodes:
        site = Site(nodes, tmp_path)
        file = tmp_path / "edge.toml"
        file.write_text(CONFIG.format(folder=tmp_path))
        lab = Lab(site)
        ports = ("-i", "1@to-lan", "-i", "2@to-wan")
        nodes.start("switch", built_switch(), "--grpc-server-addr", f"unix:{tmp_path}/switch.sock", *ports)
        site.start_controller()
        nodes.wait_for("switch", sys.executable, "-m", "wayname", "--api", f"unix:{tmp_path}/api.sock", "status")
        until(lambda: lab.provider()["prefix"] == f"{FIRST}/48" and bool(lab.provider()["used"]))
        nodes.wait_for("lan", "ping", "-c", "1", "-W", "1", "-I", HOST, TARGET)
        yield lab
        for connection in lab.connections:
            connection.close()


def test_kea_gives_a_prefix_and_then_another(lab: Lab) -> None:
    before = lab.connect()
    assert before.known_as.startswith(FIRST.removesuffix("::"))
    assert before.says("hello") == "hello"
    # The host has made an address of what the edge announces, and is known by that.
    until(lambda: f"{FIRST.removesuffix('::')}:10:" in lab.addresses())
    lab.kea.terminate()
    lab.kea.wait()
    lab.isp.delegate(SECOND)
    until(lambda: lab.provider()["prefix"] == f"{SECOND}/48")
    until(lambda: lab.connect().known_as.startswith(SECOND.removesuffix("::")))
    assert {"prefix.new", "prefix.gone"} <= set(lab.kinds())
    # A connection through NPTv6 cannot go on, and its host learns so at once.
    assert before.says("still there?") == "ConnectionResetError"
    until(lambda: f"{SECOND.removesuffix('::')}:10:" in lab.addresses())
    until(lambda: "deprecated" in lab.addresses())
