"""Linux beside the switch: what the controller wants for it, what it leaves to it, and how its devices are named."""

from __future__ import annotations

from ipaddress import IPv6Address
from pathlib import Path

import pytest
from click.testing import CliRunner
from rig import Host, Rig
from test_edge import SITE

from wayname.cli.root import wayname
from wayname.edge.linux import RATES
from wayname.p4_constants import PORTS, LinuxClass
from wayname.wire import icmpv6
from wayname.wire.discovery import HOP_LIMIT, NeighbourSolicitation
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.mac import Mac, group_mac, solicited_node

TAP = 101
LINUX = f"""
[[port]]
number = {TAP}
vlan = 100
[linux]
namespace = "edge"
[[linux.interface]]
port = {TAP}
name = "wan0"
"""
ROUTER = Mac.parse("02:00:00:01:00:64")
ADDRESS = IPv6Address("2001:db8:100::2")


@pytest.fixture
def rig() -> Rig:
    return Rig(SITE + LINUX)


def test_the_tables_pair_the_vlan_with_the_device(rig: Rig) -> None:
    assert rig.entries("linux_interfaces") == [{"vlan": 100, "port": TAP, "ipv4": 0}]
    held = rig.tables()
    assert set(RATES) == set(LinuxClass)
    for port in (4, TAP):
        for linux_class, rate in RATES.items():
            assert held["meter", ("linux_meter", PORTS * linux_class + port)] == (rate, rate, rate, rate)


def test_linux_answers_where_it_is_and_the_controller_elsewhere(rig: Rig) -> None:
    answered = {entry["vlan"] for entry in rig.entries("own_addresses")}
    assert answered == {10, 20, 200}
    provider = Host(rig, 4, 100, "02:00:00:00:00:64", "2001:db8:100::1")
    group = solicited_node(ADDRESS)
    asked = NeighbourSolicitation(ADDRESS, provider.mac).message().packet(provider.addresses[1], group, HOP_LIMIT)
    sent = rig.inject(4, provider.frame(group_mac(group), asked))
    assert [port for port, _ in sent] == [TAP]


def test_pings_of_the_router_go_to_linux_and_its_answers_back(rig: Rig) -> None:
    provider = Host(rig, 4, 100, "02:00:00:00:00:64", "2001:db8:100::1")
    rig.advance(1.0)
    request = icmpv6.Message(icmpv6.ECHO_REQUEST, 0, bytes(4) + b"ping").packet(provider.addresses[1], ADDRESS, 64)
    frame = provider.frame(ROUTER, request)
    assert rig.inject(4, frame) == [(TAP, frame)]
    reply = icmpv6.Message(icmpv6.ECHO_REPLY, 0, bytes(4) + b"ping").packet(ADDRESS, provider.addresses[1], 64)
    answer = Frame(provider.mac, ROUTER, TYPE_IPV6, reply.encode())
    assert rig.inject(TAP, answer) == [(4, answer)]


def test_next_hops_are_found_and_stay_up_beside_linux(rig: Rig) -> None:
    provider = Host(rig, 4, 100, "02:00:00:00:00:64", "2001:db8:100::1")
    provider.forwards = True
    rig.advance(5.0)
    assert "nexthop.up" in rig.kinds()
    rig.advance(5.0)
    assert not [event for event in rig.events if event.kind == "nexthop.down" and "2001:db8:100::1" in event.subject]


def test_a_device_of_linux_is_no_port_of_hosts() -> None:
    site = SITE + LINUX.replace("vlan = 100", "vlan = 10")
    rig = Rig(site)
    members = {(entry["port"], entry["vlan"]): entry for entry in rig.entries("vlan_members")}
    assert "guards" in members[(1, 10)]
    assert "guards" not in members[(TAP, 10)]


def test_the_switch_s_options_for_the_devices(tmp_path: Path) -> None:
    file = tmp_path / "edge.toml"
    file.write_text(SITE + LINUX)
    asked = CliRunner().invoke(wayname, ["linux-ports", str(file)])
    assert asked.output == (f"-i {TAP}@tap:wan0?namespace=edge&mac={ROUTER}&mtu=1500&carrier=4&persist=yes\n")


def test_options_of_a_site_without_linux(tmp_path: Path) -> None:
    file = tmp_path / "edge.toml"
    file.write_text(SITE)
    asked = CliRunner().invoke(wayname, ["linux-ports", str(file)], standalone_mode=False)
    assert "has no [[linux.interface]]" in str(asked.exception)
