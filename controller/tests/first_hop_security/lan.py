"""A link with two hosts and somebody who wants what is theirs, and a provider beyond the edge."""

from __future__ import annotations

from ipaddress import IPv6Address

import finsy as fy
from finsy.p4entity import decode_entity, encode_entities
from finsy.proto import p4r
from rig import Host, Rig

from wayname.p4_constants import Drop
from wayname.wire import ipv6
from wayname.wire.discovery import HOP_LIMIT, UNSPECIFIED, NeighbourSolicitation
from wayname.wire.ethernet import Frame
from wayname.wire.mac import Mac, solicited_node

LAN = """
[[port]]
number = 1
vlan = 10
{ports}
[[port]]
number = 2
vlan = 10
{ports}
[[port]]
number = 3
vlan = 10
{ports}
[[port]]
number = 4
vlan = 100
[[port]]
number = 5
vlan = 100
[[interface]]
vlan = 10
name = "site"
addresses = ["2001:db8:1::1/64"]
{site}
[[interface]]
vlan = 100
name = "isp"
addresses = ["2001:db8:100::2/64"]
[[route]]
prefix = "::/0"
via = ["2001:db8:100::1"]
"""
SITE, PROVIDER, ATTACKER = 10, 4, 3
ROUTER = IPv6Address("2001:db8:1::1")
HOST, OTHER = IPv6Address("2001:db8:1::11"), IPv6Address("2001:db8:1::12")
FAR = IPv6Address("2001:db8:f::1")


def lan(site: str = "", ports: str = "", more: str = "") -> str:
    """Return the configuration, with keys of the hosts' interface and ports, and what stands behind it."""
    return LAN.format(site=site, ports=ports) + more


class Lan:
    """The rig with its hosts: the victim at port 1, another at port 2, the attacker at port 3."""

    def __init__(self, config: str | None = None) -> None:
        self.rig = Rig(config or lan())
        self.victim = Host(self.rig, 1, SITE, "02:00:00:00:00:11", str(HOST))
        self.other = Host(self.rig, 2, SITE, "02:00:00:00:00:12", str(OTHER))
        self.attacker = Host(self.rig, ATTACKER, SITE, "02:00:00:00:66:66", "2001:db8:1::66")
        self.provider = Host(self.rig, PROVIDER, 100, "02:00:00:00:00:64", "2001:db8:100::1")
        self.provider.forwards = True
        self.rig.advance(1)
        for host in (self.victim, self.other):
            host.ping(ROUTER)

    def dropped(self, reason: Drop) -> int:
        """Return how many packets ingress dropped by a reason."""
        entry = fy.P4CounterEntry("ingress_drops", index=reason)
        request = p4r.ReadRequest(entities=encode_entities([entry], self.rig.schema))
        reply = p4r.ReadResponse.FromString(self.rig.switch.read(request.SerializeToString(), 0))
        counter = decode_entity(reply.entities[0], self.rig.schema)
        assert isinstance(counter, fy.P4CounterEntry)
        assert counter.data is not None
        return counter.data.packet_count

    def edge_count(self) -> int:
        """Return how many addresses the attacker's port has."""
        return self.rig.edge.bindings.count(ATTACKER)

    def owner(self, address: IPv6Address) -> int | None:
        """Return the port that an address is bound to on the switch."""
        found = [each for each in self.rig.entries("source_bindings") if each["address"] == int(address)]
        return int(str(found[0]["port"])) if found else None

    def station(self, mac: Mac) -> int | None:
        """Return the port behind which the switch takes a station to be."""
        found = [each for each in self.rig.entries("fdb") if each["destination"] == mac.value]
        return int(str(found[0]["port"])) if found else None

    def neighbour(self, address: IPv6Address) -> Mac | None:
        """Return the MAC that the switch sends packets for an address to."""
        found = [each for each in self.rig.entries("neighbours") if each["address"] == int(address)]
        return Mac(int(str(found[0]["mac"]))) if found else None

    def frames(self, port: int, since: int) -> list[Frame]:
        """Return what left by a port since so many frames were sent."""
        return [frame for where, frame in self.rig.sent[since:] if where == port]

    def delivered(self, address: IPv6Address) -> set[int]:
        """Return the ports by which a packet from far away for an address leaves."""
        self.rig.advance(0.1)
        before = len(self.rig.sent)
        packet = ipv6.Packet(FAR, address, 59, b"")
        self.provider.send(packet)
        return {port for port, frame in self.rig.sent[before:] if address.packed in frame.encode()[38:54]}


def detection(address: IPv6Address) -> ipv6.Packet:
    """Return the question of duplicate address detection."""
    return NeighbourSolicitation(address).message().packet(UNSPECIFIED, solicited_node(address), HOP_LIMIT)
