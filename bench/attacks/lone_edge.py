"""An edge that nobody is connected to: packets come out of a list, and what leaves is counted."""

from __future__ import annotations

import random
import time
from functools import cache
from ipaddress import IPv6Address, IPv6Network

from cryptography.hazmat.primitives.asymmetric import ec

from wayname.composition.configuration import parse_config
from wayname.composition.edge import Edge
from wayname.config.model import LinkAddress
from wayname.edge.boundary import PacketIn, PacketOut, SwitchUp
from wayname.hip.config import SECTION
from wayname.hip.edge.native_sessions import EspSessions
from wayname.hip.edge.sessions import HipSessions
from wayname.hip.identities import Identity, identity_of
from wayname.ilnp.edge.manager import IlnpSessions
from wayname.p4_constants import PacketOutKind, Punt
from wayname.pipeline.program import load_schema
from wayname.shim6.edge.sessions import Shim6Sessions
from wayname.wire.discovery import HOP_LIMIT, NeighbourAdvertisement, NeighbourSolicitation
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import Packet
from wayname.wire.mac import Mac
from wayname_lab.identities import provable_address

PREFIX = IPv6Network("2001:db8:101:10::/64")
HOST, PARAMETERS = provable_address("host", [PREFIX])
PEER = IPv6Address("2001:db8:102:10::10")
INSIDE, OUTSIDE = IPv6Address("2001:db8:101:10::1"), IPv6Address("2001:db8:0:1::1")
NEXT_HOP = IPv6Address("2001:db8:0:1::9")
INSIDE_VLAN, OUTSIDE_VLAN = 10, 20
INSIDE_PORT, OUTSIDE_PORT = 1, 2
ROUTERS_MAC, HOSTS_MAC = Mac.parse("02:00:00:00:00:0a"), Mac.parse("02:00:00:00:00:11")
NEXT_HOPS_MAC = Mac.parse("02:00:00:00:00:09")
ETHERNET_OCTETS = 14

SITE = f"""
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 20
[[interface]]
vlan = 10
name = "site"
addresses = ["{INSIDE}/64"]
advertise = true
[[interface]]
vlan = 20
addresses = ["{OUTSIDE}/64"]
[[provider]]
name = "p"
prefix = "2001:db8:101::/48"
via = ["{NEXT_HOP}"]
"""


@cache
def identity(number: int) -> Identity:
    """Return an identity on P-384, which is dear to check; 1 is the host's, 2 the peer's, others are strangers'."""
    return identity_of(ec.derive_private_key(0xBEEF + number, ec.SECP384R1()))


MODES = {
    "HIP, for hosts": f"""
[hip]
proxy = ["2001:db8:101:10::/64"]
[[hip.host]]
address = "{HOST}"
key = "is given"
[[hip.peer]]
address = "{PEER}"
hit = "{identity(2).hit}"
""",
    "HIP, verified": '[hip]\nverify = ["2001:db8:101:10::/64"]\n',
    "Shim6, for hosts": f"""
[[shim6]]
prefixes = ["2001:db8:101:10::/64"]
[[shim6.host]]
address = "{HOST}"
parameters = "{PARAMETERS.encode().hex()}"
""",
    "Shim6, verified": '[[shim6]]\nprefixes = ["2001:db8:101:10::/64"]\nmode = "verify"\n',
    "ILNP, for hosts": '[ilnp]\n[[ilnp.site]]\nprefixes = ["2001:db8:101:10::/64"]\n',
    "router": "",
}


class LoneEdge:
    """An edge of a mode, and the time that its caller lets pass."""

    def __init__(self, mode: str) -> None:
        config = parse_config(SITE + MODES[mode])
        identities = {HOST: identity(1)} if (hip := SECTION.of(config)) and hip.hosts else {}
        self.edge = Edge(config, load_schema(), random.Random(1), {}, None, {"hip": identities})
        self.now = 1000.0
        self.edge.receive(SwitchUp([]), self.now)
        said = NeighbourAdvertisement(NEXT_HOP, NEXT_HOPS_MAC, router=True, solicited=True, override=True).message()
        self.receive(Punt.NEIGHBOUR_ADVERTISEMENT, said.packet(NEXT_HOP, OUTSIDE, HOP_LIMIT), NEXT_HOPS_MAC)
        # The host has sent something before: the edge knows where it is.
        asked = NeighbourSolicitation(INSIDE, HOSTS_MAC).message().packet(HOST, INSIDE, HOP_LIMIT)
        self.receive(Punt.NEIGHBOUR_SOLICITATION, asked, HOSTS_MAC, INSIDE_PORT)
        assert self.edge.neighbours.get(LinkAddress(INSIDE_VLAN, HOST))

    def receive(self, reason: Punt, packet: Packet, mac: Mac, port: int = OUTSIDE_PORT) -> tuple[int, float]:
        """Let a packet come; return the octets that left for it, and the processor time that it took."""
        vlan = INSIDE_VLAN if port == INSIDE_PORT else OUTSIDE_VLAN
        given = PacketIn(Frame(ROUTERS_MAC, mac, TYPE_IPV6, packet.encode()).encode(), reason, port, vlan)
        began = time.thread_time()
        self.edge.receive(given, self.now)
        outputs = self.edge.take_outputs()
        took = time.thread_time() - began
        # What passes is no answer.
        answers = (PacketOutKind.SEND, PacketOutKind.FLOOD)
        return sum(len(one.payload) for one in outputs if isinstance(one, PacketOut) and one.kind in answers), took

    def state_size(self) -> int:
        """Return how many contexts, associations, sessions and newcomers are known."""
        edge = self.edge
        count = 0
        if (shim6 := edge.manager(Shim6Sessions)) is not None:
            count += len(shim6._endpoint.contexts) + len(list(shim6))
            count += len(shim6._inspection._asked) + len(shim6._inspection._senders)
        if (hip := edge.manager(HipSessions)) is not None:
            count += len(hip._endpoint.associations)
        if (native := edge.manager(EspSessions)) is not None:
            count += len(native._inspection._newcomers) + len(native._endpoint._newcomers)
            count += len(list(native))
        return count + (ilnp.places if (ilnp := edge.manager(IlnpSessions)) is not None else 0)
