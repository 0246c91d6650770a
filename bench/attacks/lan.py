"""What a host on the LAN tries against its neighbours (RFC 3756; RFC 6105, RFC 6620, RFC 7610, RFC 7513)."""

from __future__ import annotations

from ipaddress import IPv6Network

from bench.attacks.attack import FASTEST, SLOWEST, Attack, Draw, Group, Make, from_lan
from bench.attacks.frames import framed, to_group
from bench.attacks.on_link import OWN
from bench.attacks.packets import datagram, echo_request
from bench.attacks.ports import SPOOFED_PORT
from bench.attacks.site import LAN, MALLORY, A, B
from wayname.wire.dhcpv6 import CLIENT_PORT, SERVER_PORT, Association, Kind, Lease, Message
from wayname.wire.discovery import (
    ALL_NODES,
    HOP_LIMIT,
    INFINITY,
    NeighbourAdvertisement,
    NeighbourSolicitation,
    Prefix,
    RouterAdvertisement,
)
from wayname.wire.mac import Mac, solicited_node

VICTIMS = [A.host(kind) for kind in ("shim6", "hip", "ilnp", "verify")]
ROUTER = A.subnets("plain")[0][1]
ROGUE = IPv6Network("2001:db8:bad:1::/64")
# Enough to fill what they attack, if nothing stops them.
MANY = 20_000
SLOW = 1000


def _na_override(draw: Draw) -> list[bytes]:
    frames = []
    for victim in VICTIMS:
        for address in victim.locators:
            said = NeighbourAdvertisement(address, MALLORY, override=True).message()
            frames.append(from_lan(said.packet(address, ROUTER, HOP_LIMIT)))
            frames.append(to_group(said.packet(address, ALL_NODES, HOP_LIMIT), MALLORY))
    return frames


def _mac_theft(draw: Draw) -> list[bytes]:
    frames = []
    for victim in VICTIMS:
        frames.append(framed(echo_request(OWN, ROUTER), A.router_mac(LAN), victim.mac))
    return frames


def _some_mac(draw: Draw) -> Mac:
    return Mac(0x06 << 40 | draw.rng.getrandbits(40))


def _fdb(draw: Draw) -> list[bytes]:
    return draw.times(lambda: framed(echo_request(OWN, ROUTER), A.router_mac(LAN), _some_mac(draw)), MANY)


def _neighbours(draw: Draw) -> list[bytes]:
    subnets = [subnet for kind in ("plain", "shim6", "ilnp") for subnet in A.subnets(kind)]

    def one() -> bytes:
        source = draw.rng.choice(subnets)[draw.rng.getrandbits(62)]
        asked = NeighbourSolicitation(ROUTER, MALLORY).message()
        return to_group(asked.packet(source, solicited_node(ROUTER), HOP_LIMIT), MALLORY)

    return draw.times(one, MANY)


def _spoofed_session(draw: Draw) -> list[bytes]:
    """Return datagrams in a neighbour's name, which its session would carry."""
    victim, peer = A.host("shim6"), B.host("shim6")
    packet = datagram(victim.address, peer.address, (SPOOFED_PORT, SPOOFED_PORT), b"in another's name" + bytes(15))
    return [from_lan(packet)]


def _rogue_ra(draw: Draw) -> list[bytes]:
    prefix = Prefix(ROGUE, INFINITY, INFINITY)
    said = RouterAdvertisement(9000, source_mac=MALLORY, prefixes=(prefix,)).message()
    return [to_group(said.packet(MALLORY.link_local(), ALL_NODES, HOP_LIMIT), MALLORY)]


def _dead_router(draw: Draw) -> list[bytes]:
    """Return advertisements in the router's name that say it is none any more."""
    router = A.router_mac(LAN)
    said = RouterAdvertisement(0, source_mac=router).message()
    return [to_group(said.packet(router.link_local(), ALL_NODES, HOP_LIMIT), MALLORY)]


def _rogue_dhcp(draw: Draw) -> list[bytes]:
    lease = Lease(ROGUE[draw.rng.getrandbits(62)], 3600, 7200)
    server, client = b"\0\3\0\1" + MALLORY.packed, b"\0\3\0\1" + draw.rng.randbytes(6)
    said = Message(Kind.REPLY, 1, client, server, associations=(Association(1, (lease,)),))
    packet = datagram(MALLORY.link_local(), ALL_NODES, (SERVER_PORT, CLIENT_PORT), said.encode())
    return [to_group(packet, MALLORY)]


def _scan(draw: Draw) -> list[bytes]:
    subnets = A.subnets("plain")

    def one() -> bytes:
        to = draw.rng.choice(subnets)[draw.rng.getrandbits(62)]
        return from_lan(datagram(OWN, to, (4000, 9), bytes(8)))

    return draw.times(one)


def _attack(name: str, about: str, make: Make, fastest: float = SLOW) -> Attack:
    return Attack(name, about, Group.LAN, "mallory", make, min(SLOWEST, fastest), fastest)


ATTACKS = (
    _attack("na-override", "unsolicited advertisements: others' addresses, the attacker's MAC", _na_override),
    _attack("mac-theft", "frames with others' MACs as source", _mac_theft),
    _attack("session-spoof", "datagrams from a neighbour's address to its peer", _spoofed_session),
    _attack("rogue-ra", "advertisements of a router that is none", _rogue_ra),
    _attack("dead-router", "advertisements in the router's name, of lifetime 0", _dead_router),
    _attack("rogue-dhcp", "replies of a DHCPv6 server that is none", _rogue_dhcp),
    _attack("lan-scan", "datagrams to addresses on the LAN that nobody has, from inside", _scan, FASTEST),
    _attack("neighbour-fill", "solicitations from addresses that are made up", _neighbours, FASTEST),
    _attack("fdb-fill", "frames from MACs that are made up", _fdb, FASTEST),
)
