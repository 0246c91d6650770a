"""A TCP connection of Linux hosts goes on, in a session of Shim6 or ILNP, while Kea changes the prefix under it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import Any

import pytest

from bench.linux.connection import Connection, serve
from bench.linux.isp import DAEMONS, VALID, Isp
from harness.commands import PATIENCE, wait_until
from harness.namespaces import Nodes, missing
from harness.switches import built_switch
from wayname_lab.commands import controller

LACKING = missing(*DAEMONS, "nft", "ping")
pytestmark = pytest.mark.skipif(LACKING is not None, reason=f"needs {LACKING}")

# Of the site a: p's prefix is written down, q delegates one and then the other.
LASTING, FIRST, SECOND = (IPv6Network(f"2001:db8:{number}::/48") for number in ("101", "a1", "a2"))
SITE_A = """
[switch]
address = "unix:{folder}/a.switch"
device_id = 1
[api]
socket = "unix:{folder}/a.api"
[controller]
state = "{folder}/a.state"
[[port]]
number = 1
name = "a-host"
vlan = 10
[[port]]
number = 2
name = "a-p"
vlan = 20
[[port]]
number = 3
name = "a-q"
vlan = 30
[[interface]]
vlan = 10
name = "lan"
addresses = ["2001:db8:101:10::1/64", "fd00:0:a:10::1/64", "<q>::10:0:0:0:1/64"]
[[interface]]
vlan = 20
name = "p"
addresses = ["2001:db8:0:1::1/64"]
[[interface]]
vlan = 30
name = "q"
addresses = ["fe80::e/64"]
[[provider]]
name = "p"
prefix = "2001:db8:101::/48"
via = ["2001:db8:0:1::2"]
[[provider]]
name = "q"
prefix = "dhcpv6-pd"
prefix_length = 48
interface = "q"
[[route]]
prefix = "::/0"
via = ["2001:db8:0:1::2"]
"""
SITE_B = """
[switch]
address = "unix:{folder}/b.switch"
device_id = 2
[api]
socket = "unix:{folder}/b.api"
[controller]
state = "{folder}/b.state"
[[port]]
number = 1
name = "b-host"
vlan = 10
[[port]]
number = 2
name = "b-p"
vlan = 20
[[interface]]
vlan = 10
name = "lan"
addresses = ["2001:db8:102:10::1/64", "fd00:0:b:10::1/64"]
[[interface]]
vlan = 20
name = "p"
addresses = ["2001:db8:0:2::1/64"]
[[provider]]
name = "p"
prefix = "2001:db8:102::/48"
via = ["2001:db8:0:2::2"]
[[route]]
prefix = "::/0"
via = ["2001:db8:0:2::2"]
"""
SHIM6 = """
[[shim6]]
prefixes = [{prefixes}]
send_timeout = 1
bytes = 1
[identities]
key = "{folder}/{site}.pem"
bits = 1024
sec = 0
[[identities.link]]
interface = "lan"
prefixes = [{prefixes}]
mapped = ["fd00:0:{site}:10::11/128"]
"""
ILNP = """
[ilnp]
[[ilnp.site]]
prefixes = [{prefixes}]
bytes = 1
"""
PREFIXES = {"a": ('"2001:db8:101:10::/64"', '"<q>::10:0:0:0:0/64"'), "b": ('"2001:db8:102:10::/64"',)}
PORTS = {"a": ("host", "p", "q"), "b": ("host", "p")}
# Counts what bears each prefix between the sites, and the messages that tell a peer where its hosts are now:
# the Update Request of Shim6 (RFC 5533, section 5.10) and the Locator Update of ILNP (RFC 6743).
SEEN = f"""
table ip6 seen {{
    counter first {{ }}
    counter second {{ }}
    counter updates {{ }}
    chain forward {{
        type filter hook forward priority 0
        ip6 saddr {FIRST} counter name first
        ip6 saddr {SECOND} counter name second
        iifname "to-q" ip6 nexthdr 140 @nh,336,8 67 counter name updates
        iifname "to-q" icmpv6 type 156 counter name updates
    }}
}}
"""


class Sites:
    """Two sites with a host each, the providers between them, and one connection of the hosts."""

    def __init__(self, nodes: Nodes, folder: Path, protocol: str) -> None:
        self.nodes = nodes
        self.folder = folder
        nodes.add("a1", "b1", "providers")
        nodes.add("edges", is_switch=True)
        self._join_providers()
        for site in PORTS:
            self._start_edge(site, protocol)
        self.isp = Isp(nodes, "providers", "to-q", folder)
        self.isp.advertise()
        self.kea = self.isp.delegate(str(FIRST.network_address))
        own, peer = {
            "shim6": ("fd00:0:a:10::11", "fd00:0:b:10::11"),
            "ilnp": ("2001:db8:101:10::a:11", "2001:db8:102:10::b:11"),
        }[protocol]
        self._join_host("a", own)
        self._join_host("b", peer)
        serve(nodes, "b1")
        until(lambda: self.prefix() == str(FIRST))
        target = self.identity("b") if protocol == "shim6" else peer
        nodes.wait_for("a1", "ping", "-c", "1", "-W", "1", target)
        self.connection = Connection(nodes, "a1", own, target, patience=60)
        assert self.connection.says("hello") == "hello"

    def wayname(self, site: str, *words: str) -> Any:
        """Ask an edge."""
        api = ("--api", f"unix:{self.folder}/{site}.api", "--json")
        return json.loads(self.nodes.run("edges", sys.executable, "-m", "wayname", *words, *api))

    def prefix(self) -> str | None:
        """Return the prefix that q has delegated."""
        [q] = [each for each in self.wayname("a", "providers") if each["name"] == "q"]
        return str(q["prefix"]) if q["used"] else None

    def identity(self, site: str) -> str:
        """Return by which address a site's host is known."""
        [host] = self.wayname(site, "identities")["hosts"]
        return str(host["addresses"][0])

    def locators(self, site: str, side: str) -> set[IPv6Address]:
        """Return the locators that a site's one session has on a side: `local` or `peer`."""
        [session] = self.wayname(site, "sessions")
        return {IPv6Address(path[side]) for path in session["paths"]}

    def seen(self) -> dict[str, int]:
        """Return how many packets between the sites bore each prefix, and told of a new one."""
        said = json.loads(self.nodes.run("providers", "nft", "-j", "list", "counters"))["nftables"]
        return {each["counter"]["name"]: each["counter"]["packets"] for each in said if "counter" in each}

    def _join_providers(self) -> None:
        nodes = self.nodes
        for device, far in (("to-p", "a-p"), ("to-q", "a-q"), ("to-b", "b-p")):
            nodes.join("providers", device, "edges", far)
        nodes.address("providers", "to-p", "2001:db8:0:1::2/64")
        nodes.address("providers", "to-b", "2001:db8:0:2::2/64")
        nodes.run("providers", "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
        nodes.ip("providers", f"-6 route add {LASTING} via 2001:db8:0:1::1")
        nodes.ip("providers", "-6 route add 2001:db8:102::/48 via 2001:db8:0:2::1")
        for prefix in (FIRST, SECOND):
            nodes.ip("providers", f"-6 route add {prefix} via fe80::e dev to-q")
        nodes.run("providers", "nft", "-f", "-", text=SEEN)

    def _start_edge(self, site: str, protocol: str) -> None:
        own = {"shim6": SHIM6, "ilnp": ILNP}[protocol].format(
            folder=self.folder, site=site, prefixes=", ".join(PREFIXES[site])
        )
        text = {"a": SITE_A, "b": SITE_B}[site].format(folder=self.folder) + own
        file = self.folder / f"{site}.toml"
        file.write_text(text)
        ports = [word for number, port in enumerate(PORTS[site], 1) for word in ("-i", f"{number}@{site}-{port}")]
        device = ("--device-id", str(list(PORTS).index(site) + 1))
        address = ("--grpc-server-addr", f"unix:{self.folder}/{site}.switch")
        self.nodes.join(f"{site}1", "eth0", "edges", f"{site}-host")
        self.nodes.start("edges", built_switch(), *address, *device, *ports)
        log = (self.folder / f"{site}.log").open("wb")
        self.nodes.start("edges", *controller(file), output=log)
        self.nodes.wait_for(
            "edges", sys.executable, "-m", "wayname", "--api", f"unix:{self.folder}/{site}.api", "status"
        )

    def _join_host(self, site: str, address: str) -> None:
        self.nodes.address(f"{site}1", "eth0", f"{address}/64")
        router = IPv6Network(f"{address}/64", strict=False).network_address + 1
        self.nodes.ip(f"{site}1", f"-6 route add default via {router}")


def until(is_so: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Wait until something is so."""
    wait_until(is_so, "what was waited for", pause=0.5, patience=patience)


@pytest.fixture(params=["shim6", "ilnp"])
def sites(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Sites]:
    """The hosts talk, and by q: the link to p is cut."""
    with Nodes("renumbered") as nodes:
        sites = Sites(nodes, tmp_path, request.param)
        until(lambda: len(sites.wayname("b", "sessions")) == 1 and bool(within(sites.locators("b", "peer"), FIRST)))
        nodes.ip("edges", "link set a-p down")
        assert sites.connection.says("by q") == "by q"
        assert sites.seen()["first"] > 0
        yield sites
        sites.connection.close()


def within(addresses: set[IPv6Address], prefix: IPv6Network) -> set[IPv6Address]:
    """Return the addresses that are in a prefix."""
    return {each for each in addresses if each in prefix}


def test_a_connection_goes_on_when_kea_gives_another_prefix_and_forgets_the_first(sites: Sites) -> None:
    told = sites.seen()["updates"]
    sites.kea.terminate()
    sites.kea.wait()
    sites.isp.delegate(str(SECOND.network_address))
    until(lambda: sites.prefix() == str(SECOND))
    assert sites.connection.says("by the new prefix") == "by the new prefix"
    until(lambda: within(sites.locators("b", "peer"), SECOND) != set() == within(sites.locators("b", "peer"), FIRST))
    before = sites.seen()
    assert before["updates"] > told
    assert before["second"] > 0
    for number in range(20):
        assert sites.connection.says(f"line {number}") == f"line {number}"
    after = sites.seen()
    assert after["second"] >= before["second"] + 20
    assert after["first"] == before["first"]


def test_a_connection_goes_on_by_another_provider_when_nobody_renews_the_prefix(sites: Sites) -> None:
    sites.kea.terminate()
    sites.kea.wait()
    assert sites.connection.says("valid still") == "valid still"
    # Its lifetime is over, and p is not back: there is no way at all.
    until(lambda: sites.prefix() is None, patience=2 * VALID)
    sites.nodes.ip("edges", "link set a-p up")
    assert sites.connection.says("by p") == "by p"
    until(lambda: not within(sites.locators("b", "peer"), FIRST))
    before = sites.seen()
    for number in range(20):
        assert sites.connection.says(f"line {number}") == f"line {number}"
    assert sites.seen()["first"] == before["first"]
