"""Linux beside a live switch and controller, in namespaces: what an operator does with it."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.linux.site import HOST, ROUTER, Site, missing, switched
from wayname.edge.linux import RATES
from wayname.p4_constants import Drop, LinuxClass

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"needs {missing()}")

FLOOD = 60_000
COUNTED_WITHIN = 20  # seconds
BESIDES = 1000  # packets that are not of the flood
DOCS = Path(__file__).parents[2] / "docs"
BURST = 1000  # what the page's rules let through at once
# Datagrams of a host to the router, as fast as the socket takes them.
FLOODER = """
import socket, sys
family, _, _, _, to = socket.getaddrinfo(sys.argv[2], 9999, type=socket.SOCK_DGRAM)[0]
with socket.socket(family, socket.SOCK_DGRAM) as flooder:
    for _ in range(int(sys.argv[1])):
        flooder.sendto(b"flood", to)
"""
# One connection from whom it says.
LISTENER = """
import socket
with socket.create_server(("::", 22), family=socket.AF_INET6) as server:
    peer, (address, *_) = server.accept()
    peer.sendall(address.encode())
    peer.close()
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with switched(tmp_path_factory.mktemp("linux")) as made:
        yield made


def held_back(site: Site) -> int:
    """How many packets to Linux were too many."""
    found = json.loads(site.wayname("drops", "--json"))
    return sum(each["packets"] for each in found if each["reason"] == Drop.LINUX_RATE)


def received(site: Site) -> int:
    """How many packets came to Linux by the LAN."""
    link = json.loads(site.nodes.run("edge", "ip", "-s", "-j", "link", "show", "lan0"))
    return int(link[0]["stats64"]["rx"]["packets"])


def taken(site: Site) -> int:
    """How many packets the switch took from the LAN."""
    ports = json.loads(site.wayname("status", "--json"))["port_counters"]
    return next(int(each["received_packets"]) for each in ports if each["name"] == "lan")


def bounded(site: Site) -> int:
    """How many packets the page's rules dropped."""
    listed = json.loads(site.nodes.run("edge", "nft", "-j", "list", "chain", "inet", "router", "input"))["nftables"]
    counters = [
        part["counter"] for each in listed for part in each.get("rule", {}).get("expr", ()) if "counter" in part
    ]
    return sum(int(counter["packets"]) for counter in counters)


def test_the_devices_are_the_router_s(site: Site) -> None:
    link = json.loads(site.nodes.run("edge", "ip", "-j", "link", "show", "wan0"))[0]
    assert (link["address"], link["mtu"]) == ("02:00:00:01:00:14", 1500)
    assert "LOWER_UP" in link["flags"]


@pytest.mark.parametrize("side", ["lan", "wan"])
def test_hosts_reach_the_router_by_both_protocols(site: Site, side: str) -> None:
    for address in ROUTER[side]:
        site.nodes.run(side, "ping", "-c", "3", "-i", "0.2", "-W", "5", address)
    link_local = "fe80::ff:fe01:a" if side == "lan" else "fe80::ff:fe01:14"
    site.nodes.run(side, "ping", "-c", "1", "-W", "5", f"{link_local}%eth0")


def test_linux_reaches_hosts(site: Site) -> None:
    for address in (*HOST["lan"], *HOST["wan"]):
        site.nodes.run("edge", "ping", "-c", "1", "-W", "5", address)


def test_a_program_of_linux_takes_connections(site: Site) -> None:
    site.nodes.start("edge", sys.executable, "-c", LISTENER)
    site.nodes.wait_for("edge", "sh", "-c", "ss -Htln sport = 22 | grep -q .")
    asked = "import socket; print(socket.create_connection(('2001:db8:1::1', 22), 20).recv(99).decode())"
    assert site.nodes.run("lan", sys.executable, "-c", asked).strip() == HOST["lan"][1]


def test_ipv4_is_routed_and_masqueraded_by_linux(site: Site) -> None:
    assert site.transfer("-t", "1").octets > 100_000
    seen = site.nodes.run("edge", "nft", "list", "table", "ip", "nat")
    assert "masquerade" in seen
    # The other host has no route to the LAN, so what came back went to the router's address.
    with pytest.raises(Exception, match="ping"):
        site.nodes.run("wan", "ping", "-c", "1", "-W", "1", HOST["lan"][0])


def test_a_flood_of_the_router_is_bounded_and_counted(site: Site) -> None:
    before = [told(site) for told in (received, taken, held_back)]
    began = time.monotonic()
    site.nodes.run("lan", sys.executable, "-c", FLOODER, str(FLOOD), ROUTER["lan"][1])
    site.nodes.run("lan", "ping", "-c", "1", "-W", "5", HOST["wan"][0])
    seconds = time.monotonic() - began
    # The edge reads counters now and then.
    while True:
        came, took, dropped = (
            told(site) - first for told, first in zip((received, taken, held_back), before, strict=True)
        )
        if took - came - dropped <= BESIDES or time.monotonic() > began + COUNTED_WITHIN:
            break
        time.sleep(0.2)
    print(f"{FLOOD} in {seconds:.1f} s: the switch took {took}, {came} came, {dropped} were too many")
    # A burst, and the rate for each second; what else there is on the link besides.
    assert came <= RATES[LinuxClass.UNICAST] * (seconds + 1) + BESIDES
    # Faster than the switch takes it, some is lost at its port. Of what it took, what did not come is counted.
    assert took - came - dropped <= BESIDES


def test_ipv4_floods_of_the_router_are_bounded_as_the_page_says(site: Site) -> None:
    page = (DOCS / "linux-control-plane.md").read_text()
    (ruleset,) = re.findall(r"<<'END'\n(table inet router .*?)END", page, re.DOTALL)
    site.nodes.run("edge", "nft", "-f", "-", text=ruleset)
    # What hosts get through NAT44 comes to the same address, much faster than the limit.
    assert site.transfer("-t", "1", "-R").octets > 1500 * 2 * BURST
    assert bounded(site) == 0
    site.nodes.run("wan", sys.executable, "-c", FLOODER, str(FLOOD), ROUTER["wan"][0])
    assert bounded(site) > 0
    site.nodes.run("edge", "nft", "delete", "table", "inet", "router")


def test_linux_sees_a_link_go_down_and_come_back(site: Site) -> None:
    site.nodes.run("wan", "ip", "link", "set", "eth0", "down")
    site.nodes.wait_for("edge", "sh", "-c", "ip link show wan0 | grep -q NO-CARRIER")
    assert "NO-CARRIER" not in site.nodes.run("edge", "ip", "link", "show", "lan0")
    site.nodes.run("wan", "ip", "link", "set", "eth0", "up")
    site.nodes.wait_for("edge", "sh", "-c", "ip link show wan0 | grep -q LOWER_UP")
    site.nodes.wait_for("lan", "ping", "-c", "1", "-W", "1", HOST["wan"][0])
