"""VRRP (RFC 9568): its octets, and which of two edges is the router, against the real switch on a virtual clock."""

from __future__ import annotations

import random
from ipaddress import IPv6Address

import pytest
from rig import Host, Rig
from scapy.layers.inet6 import IPv6
from scapy.layers.vrrp import VRRPv3

from wayname.composition.backup_edge import BackupEdge
from wayname.composition.configuration import parse_config
from wayname.composition.edge import Edge
from wayname.config.backup import as_backup
from wayname.config.tables import ConfigError
from wayname.edge.boundary import LetGo, SwitchUp, VrrpRole, VrrpRoleWanted
from wayname.edge.liveness import NextHopHealth
from wayname.p4_constants import Punt
from wayname.wire import discovery, ipv6
from wayname.wire.discovery import NeighbourAdvertisement, RouterAdvertisement
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.mac import Mac, group_mac
from wayname.wire.vrrp import ROUTERS, VRRP, VrrpAdvertisement, virtual_mac

FLEET = """[fleet]
endpoints = ["127.0.0.1:2379"]
edge = "site"
sealing_key = "fleet.key"
"""
SITE = f"""
[switch]
device_id = {{device}}
{FLEET}[vrrp]
priority = {{priority}}
interval = 0.2
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 10
[[port]]
number = 3
vlan = 100
[[interface]]
vlan = 10
name = "site"
virtual_router_id = 7
addresses = ["fe80::1/64", "2001:db8:1::1/64"]
advertise = true
[[interface]]
vlan = 100
name = "up"
virtual_router_id = 8
addresses = ["2001:db8:100::2/64"]
[[route]]
prefix = "::/0"
via = ["2001:db8:100::1"]
"""
INTERVAL, PRIORITY = 0.2, 100
DOWN = 3 * INTERVAL + (256 - PRIORITY) * INTERVAL / 256
MAC, OWN_MAC = virtual_mac(7), Mac.parse("02:00:00:05:00:0a")
OTHER = IPv6Address("fe80::99")


class PairRig(Rig):
    """One of two edges; what it wants to be is for the test to see."""

    def __init__(self, role: VrrpRole, device: int = 5) -> None:
        self.role = role
        self.wanted: list[VrrpRoleWanted] = []
        super().__init__(SITE.format(device=device, priority=PRIORITY))

    def _new_edge(self, before: Edge | None = None) -> Edge:
        if self.role is VrrpRole.ACTIVE:
            return super()._new_edge(before)
        return BackupEdge(as_backup(self.config), self.schema, random.Random(self.seed), role=VrrpRole.BACKUP)

    def _carry_out(self, output: object) -> None:
        if isinstance(output, VrrpRoleWanted):
            self.wanted.append(output)
        else:
            super()._carry_out(output)

    def become(self, role: VrrpRole) -> None:
        """Go on in another role on the same switch, as the adapter does it."""
        self.role = role
        self.wanted.clear()
        self.restart_controller()

    def hear(self, priority: int, source: IPv6Address = OTHER, router: int = 7) -> None:
        """Have the other edge say that it is the router."""
        said = VrrpAdvertisement(router, priority, round(INTERVAL * 100), (IPv6Address("fe80::1"),))
        port = 2 if router == 7 else 3
        self.inject(port, Frame(group_mac(ROUTERS), virtual_mac(router), TYPE_IPV6, said.packet(source).encode()))

    def said(self) -> list[VrrpAdvertisement]:
        """Take what was advertised to hosts behind port 1 since the last call."""
        packets = [self.packet(frame) for port, frame in self.sent if port == 1]
        self.sent.clear()
        own = [each for each in packets if each.next_header == VRRP and each.source == OWN_MAC.link_local()]
        return [VrrpAdvertisement.decode(each) for each in own]

    @staticmethod
    def packet(frame: Frame) -> ipv6.Packet:
        return ipv6.Packet.decode(frame.payload)


def test_an_advertisement_is_as_the_rfc_draws_it() -> None:
    addresses = (IPv6Address("fe80::1"), IPv6Address("2001:db8::1"))
    packet = VrrpAdvertisement(7, 100, 20, addresses).packet(IPv6Address("fe80::5"))
    assert packet.payload[:6].hex() == "310764020014"
    assert packet.payload[8:] == addresses[0].packed + addresses[1].packed
    assert (packet.hop_limit, packet.next_header, packet.destination) == (255, 112, IPv6Address("ff02::12"))
    # Another implementation reads it, and has the same checksum.
    read = IPv6(packet.encode())[VRRPv3]
    assert (read.version, read.type, read.vrid, read.priority, read.ipcount, read.adv) == (3, 1, 7, 100, 2, 20)
    read.chksum = None
    assert bytes(IPv6(bytes(IPv6(src="fe80::5", dst="ff02::12", hlim=255, nh=112) / read)))[40:] == packet.payload
    assert VrrpAdvertisement.decode(packet) == VrrpAdvertisement(7, 100, 20, addresses)
    assert str(virtual_mac(7)) == "00:00:5e:00:02:07"


def test_whatever_is_changed_on_the_way_is_refused() -> None:
    packet = VrrpAdvertisement(7, 100, 20, (IPv6Address("fe80::1"),)).packet(IPv6Address("fe80::5"))
    octets = packet.encode()
    # Traffic class, flow label, and what RFC 9568 reserves for senders and ignores are all that may differ.
    for bit in range(8 * len(octets)):
        changed = bytearray(octets)
        changed[bit // 8] ^= 0x80 >> bit % 8
        if bit // 8 < 4:
            continue
        with pytest.raises(DecodeError):
            VrrpAdvertisement.decode(ipv6.Packet.decode(bytes(changed)))
    for length in range(40, len(octets)):
        short = octets[:4] + (length - 40).to_bytes(2) + octets[6:length]
        with pytest.raises(DecodeError):
            VrrpAdvertisement.decode(ipv6.Packet.decode(short))


def test_the_active_edge_says_so_by_the_virtual_mac() -> None:
    rig = PairRig(VrrpRole.ACTIVE)
    # Unsolicited advertisements for the virtual router's addresses, and then routers' from its link-local address.
    frames = [frame for port, frame in rig.sent if port == 1]
    assert {frame.source for frame in frames} == {MAC}
    told = [discovery.decode(rig.packet(each)) for each in frames if rig.packet(each).next_header == ipv6.ICMPV6]
    neighbours = [each for each in told if isinstance(each, NeighbourAdvertisement)]
    assert {str(each.target) for each in neighbours} >= {"fe80::1", "2001:db8:1::1"}
    assert all(each.router and not each.solicited and each.override for each in neighbours)
    [said] = rig.said()
    assert (said.router, said.priority, said.interval) == (7, PRIORITY, 20)
    assert said.addresses == (IPv6Address("fe80::1"), IPv6Address("2001:db8:1::1"))
    rig.advance(1.0)
    routers = [each for port, each in rig.sent if port == 1 and rig.packet(each).next_header == ipv6.ICMPV6]
    assert [
        rig.packet(each).source
        for each in routers
        if isinstance(discovery.decode(rig.packet(each)), RouterAdvertisement)
    ] == [IPv6Address("fe80::1")]
    assert len(rig.said()) == 5


def test_the_backup_says_nothing_for_the_virtual_router_and_takes_over_when_it_hears_nothing() -> None:
    rig = PairRig(VrrpRole.BACKUP)
    rig.advance(DOWN - 0.01)
    assert not rig.wanted
    # A solicitation for the virtual router's address is not for it.
    asked = discovery.NeighbourSolicitation(IPv6Address("2001:db8:1::1"), Mac.parse("02:00:00:00:00:11")).message()
    packet = asked.packet(IPv6Address("fe80::11"), IPv6Address("ff02::1:ff00:1"), 255)
    rig.inject(1, Frame(group_mac(packet.destination), Mac.parse("02:00:00:00:00:11"), TYPE_IPV6, packet.encode()))
    assert MAC not in {frame.source for _, frame in rig.sent}
    assert rig.said() == []
    rig.advance(0.02)
    assert [each.role for each in rig.wanted] == [VrrpRole.ACTIVE]
    rig.become(VrrpRole.ACTIVE)
    assert {frame.source for port, frame in rig.sent if port == 1} == {MAC}
    assert len(rig.said()) == 1


def test_the_backup_waits_while_the_other_is_heard_on_any_link() -> None:
    rig = PairRig(VrrpRole.BACKUP)
    for _ in range(20):
        rig.advance(DOWN - 0.05)
        # Preempt_Mode is false: also of less priority.
        rig.hear(1)
    assert not rig.wanted
    # Who lets go is followed after Skew_Time.
    rig.hear(0)
    rig.advance((256 - PRIORITY) * INTERVAL / 256 + 0.001)
    assert [each.role for each in rig.wanted] == [VrrpRole.ACTIVE]


def test_what_is_of_another_virtual_router_counts_for_nothing() -> None:
    rig = PairRig(VrrpRole.BACKUP)
    rig.advance(DOWN - 0.05)
    rig.hear(200, router=9)
    assert rig.edge.undecodable[Punt.VRRP] == 1
    rig.advance(0.06)
    assert rig.wanted


@pytest.mark.parametrize(
    ("priority", "source", "gives_way"),
    [
        (PRIORITY + 1, "fe80::1:1", True),
        (PRIORITY - 1, "fe80::ffff", False),
        # Of the same priority who has the higher address: this edge has fe80::ff:fe05:a.
        (PRIORITY, "fe80::2", False),
        (PRIORITY, "fe80::ffff:ffff:ffff:ffff", True),
        (0, "fe80::ffff:ffff:ffff:ffff", False),
    ],
)
def test_of_two_active_edges_one_gives_way(priority: int, source: str, gives_way: bool) -> None:
    rig = PairRig(VrrpRole.ACTIVE)
    rig.said()
    rig.hear(priority, IPv6Address(source))
    assert [each.role for each in rig.wanted] == [VrrpRole.BACKUP] * gives_way
    # Who stays says so at once.
    assert len(rig.said()) == (not gives_way)


def test_who_lets_go_forwards_until_the_other_was_heard_for_a_while() -> None:
    rig = PairRig(VrrpRole.ACTIVE)
    rig.said()
    rig.receive(LetGo())
    assert [each.priority for each in rig.said()] == [0]
    for number in range(3):
        rig.advance(INTERVAL)
        assert not rig.wanted
        rig.hear(PRIORITY - 50)
        rig.hear(PRIORITY - 50, router=8)
        # It forwards under its own MAC, so that bridges learn the virtual one from the other edge alone.
        assert [each["mac"] for each in rig.entries("source_macs") if each["vlan"] == 10] == [OWN_MAC.value], number
        assert [each["mac"] for each in rig.entries("interfaces") if each["vlan"] == 10] == [MAC.value]
    rig.advance(0)
    assert [each.role for each in rig.wanted] == [VrrpRole.BACKUP]
    rig.become(VrrpRole.BACKUP)
    # What comes to the virtual MAC is not routed any more.
    assert [each["mac"] for each in rig.entries("interfaces") if each["vlan"] == 10] == [OWN_MAC.value]


def test_who_lets_go_goes_on_where_nobody_takes_it() -> None:
    rig = PairRig(VrrpRole.ACTIVE)
    rig.receive(LetGo())
    rig.advance(60 * INTERVAL)
    assert not rig.wanted
    assert rig.kinds().count("vrrp.kept") == 1
    assert rig.said()[-1].priority == PRIORITY


def test_two_edges_with_one_device_id_are_told_of() -> None:
    rig = PairRig(VrrpRole.ACTIVE)
    rig.hear(PRIORITY, OWN_MAC.link_local())
    rig.hear(PRIORITY, OWN_MAC.link_local())
    assert rig.kinds().count("vrrp.refused") == 1
    assert not rig.wanted


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (FLEET, "", "there is no [fleet]"),
        ("virtual_router_id = 8\n", "", "has no virtual_router_id"),
        ("[vrrp]\npriority = 100\ninterval = 0.2\n", "", "there is no [vrrp]"),
        ("virtual_router_id = 8\n", 'virtual_router_id = 8\nmac = "02:00:00:00:00:01"\n', "leave it out"),
        ("virtual_router_id = 8\n", "virtual_router_id = 0\n", "from 1 to 255"),
        ("priority = 100", "priority = 255", "from 1 to 254"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(old: str, new: str, says: str) -> None:
    text = SITE.format(device=5, priority=PRIORITY)
    assert parse_config(text)
    with pytest.raises(ConfigError, match=says.replace("[", r"\[")):
        parse_config(text.replace(old, new))


def test_a_backup_whose_turn_comes_late_waits_for_what_may_be_there_once() -> None:
    rig = PairRig(VrrpRole.BACKUP)
    for heard in (True, False):
        rig.now += 10 * DOWN
        rig.edge.handle_timer(rig.now)
        rig.settle()
        assert not rig.wanted
        if heard:
            # The advertisement was on its way.
            rig.hear(PRIORITY)
    rig.now += 10 * DOWN
    rig.edge.handle_timer(rig.now)
    rig.settle()
    assert rig.wanted


def test_an_edge_in_another_role_knows_next_hops_as_the_one_before() -> None:
    rig = PairRig(VrrpRole.BACKUP)
    [hop] = rig.edge.routes.next_hops
    # Nobody has answered yet, though entries for the next hop are there: that says nothing of it.
    rig.become(VrrpRole.ACTIVE)
    assert rig.edge.liveness.health(hop) is NextHopHealth.UNKNOWN
    assert rig.entries("routes")
    router = Host(rig, 3, 100, "02:00:00:00:00:a1", "2001:db8:100::1")
    router.forwards = True
    rig.advance(1)
    assert rig.edge.liveness.health(hop) is NextHopHealth.UP
    found = rig.kinds().count("nexthop.up")
    before = rig.edge.liveness
    rig.edge = rig._new_edge()
    rig.edge.liveness.go_on(before)
    rig.edge.receive(SwitchUp(rig.read(), resumed=True), rig.now)
    rig.advance(1)
    assert rig.edge.liveness.health(hop) is NextHopHealth.UP
    assert rig.kinds().count("nexthop.up") == found
    router.silent, router.forwards = True, False
    rig.advance(3)
    before = rig.edge.liveness
    rig.edge = rig._new_edge()
    rig.edge.liveness.go_on(before)
    assert rig.edge.liveness.health(hop) is NextHopHealth.DOWN
