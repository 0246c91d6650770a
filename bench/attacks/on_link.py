"""What anybody sends to the router itself, or makes it answer: discovery, pings, scans, errors, headers, rubbish."""

from __future__ import annotations

import struct
from collections.abc import Callable

from bench.attacks.attack import Attack, Draw, Group, Make, from_lan, from_provider
from bench.attacks.frames import framed, to_group
from bench.attacks.off_path import ANY_PORT, CLOSED_PORT, addressed
from bench.attacks.packets import datagram, echo_request
from bench.attacks.site import FIRST_LINK, MALLORY, MALLORY_NUMBER, PROVIDER_MACS, A
from wayname.wire import icmpv6
from wayname.wire.dhcpv6 import ALL_SERVERS, CLIENT_PORT, SERVER_PORT, Association, Kind, Message
from wayname.wire.discovery import (
    ALL_NODES,
    ALL_ROUTERS,
    HOP_LIMIT,
    NeighbourAdvertisement,
    NeighbourSolicitation,
    RouterSolicitation,
)
from wayname.wire.ipv6 import DESTINATION_OPTIONS, FRAGMENT, HOP_BY_HOP, ICMPV6, ROUTING, UDP, Packet
from wayname.wire.mac import solicited_node

ROUTER = A.subnets("plain")[0][1]
LINK_ROUTER, LINK_PROVIDER = A.link("p")[1], A.link("p")[2]
OWN = A.subnets("plain")[0][MALLORY_NUMBER]
SEGMENTS = 4
TRACE_TYPE = 0x31


def _lan_echo(draw: Draw) -> list[bytes]:
    return draw.times(lambda: from_lan(echo_request(OWN, ROUTER, draw.rng.getrandbits(16), draw.rng.randbytes(8))))


def _lan_na(draw: Draw) -> list[bytes]:
    said = NeighbourAdvertisement(OWN, MALLORY, solicited=True).message()
    return [from_lan(said.packet(OWN, ROUTER, HOP_LIMIT))]


def _lan_na_and_echo(draw: Draw) -> list[bytes]:
    return [frame for pair in zip(_lan_echo(draw), _lan_na(draw) * 4096, strict=False) for frame in pair]


def _lan_ns(draw: Draw) -> list[bytes]:
    asked = NeighbourSolicitation(ROUTER, MALLORY).message()
    return [to_group(asked.packet(OWN, solicited_node(ROUTER), HOP_LIMIT), MALLORY)]


def _lan_rs(draw: Draw) -> list[bytes]:
    asked = RouterSolicitation(MALLORY).message()
    return [to_group(asked.packet(MALLORY.link_local(), ALL_ROUTERS, HOP_LIMIT), MALLORY)]


def _link_na(draw: Draw) -> list[bytes]:
    mac = PROVIDER_MACS["p"]
    said = NeighbourAdvertisement(LINK_PROVIDER, mac).message()
    return [framed(said.packet(LINK_PROVIDER, LINK_ROUTER, HOP_LIMIT), A.router_mac(FIRST_LINK), mac)]


def _link_echo(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        return from_provider(echo_request(draw.forged(), LINK_ROUTER, draw.rng.getrandbits(16)))

    return draw.times(one)


def _dhcp_solicit(draw: Draw) -> list[bytes]:
    def one() -> bytes:
        client = b"\0\3\0\1" + draw.rng.randbytes(6)
        wanted = Message(Kind.SOLICIT, draw.rng.getrandbits(24), client, associations=(Association(1),))
        packet = datagram(MALLORY.link_local(), ALL_SERVERS, (CLIENT_PORT, SERVER_PORT), wanted.encode())
        return to_group(packet, MALLORY)

    return draw.times(one)


def _scan(draw: Draw) -> list[bytes]:
    subnets = [*A.subnets("plain"), *A.subnets("shim6")]

    def one() -> bytes:
        to = draw.rng.choice(subnets)[draw.rng.getrandbits(62)]
        return from_provider(datagram(draw.forged(), to, (ANY_PORT, CLOSED_PORT), bytes(8)))

    return draw.times(one)


def _errors(change: Callable[[Draw], Packet]) -> Make:
    return lambda draw: draw.times(lambda: from_provider(change(draw)))


def _hop_limit(draw: Draw) -> Packet:
    packet = addressed(A.host("shim6").address, draw)
    return Packet(packet.source, packet.destination, packet.next_header, packet.payload, hop_limit=1)


def _no_route(draw: Draw) -> Packet:
    """Return a packet to a subnet that the site has not."""
    nowhere = A.given("p")[0xFF << 64 | 5]
    return addressed(nowhere, draw)


def _trace(draw: Draw) -> Packet:
    """Return a datagram to the router with an IOAM trace that has room for eight nodes (RFC 9197)."""
    head = struct.pack("!BBBB", TRACE_TYPE, 2 + 8 + 32, 0, 0) + struct.pack("!HBB", draw.rng.getrandbits(16), 1 << 3, 8)
    trace = head + (0x800000 << 8).to_bytes(4) + bytes(32)
    header = bytes([UDP, (2 + len(trace) + 7) // 8 - 1]) + trace
    header += bytes(-len(header) % 8)
    inner = addressed(LINK_ROUTER, draw)
    return Packet(inner.source, inner.destination, HOP_BY_HOP, header + inner.payload)


def _segments(draw: Draw) -> Packet:
    """Return a datagram to the router with a list of segments (RFC 8754)."""
    listed = [draw.forged() for _ in range(SEGMENTS)]
    header = bytes([UDP, 2 * SEGMENTS, 4, SEGMENTS - 1, SEGMENTS - 1, 0, 0, 0]) + b"".join(
        each.packed for each in listed
    )
    inner = addressed(LINK_ROUTER, draw)
    return Packet(inner.source, inner.destination, ROUTING, header + inner.payload)


def _fragments(draw: Draw) -> Packet:
    """Return a part of something, mostly the first, to the router or to a host."""
    offset = draw.rng.choice((0, 0, 1, 185, 8000))
    header = (
        bytes([draw.rng.choice((UDP, ICMPV6, 140, 139)), 0]) + (offset << 3 | 1).to_bytes(2) + draw.rng.randbytes(4)
    )
    to = draw.rng.choice((LINK_ROUTER, A.host("shim6").address, A.host("ilnp").address))
    return Packet(draw.forged(), to, FRAGMENT, header + draw.rng.randbytes(64))


def _malformed(draw: Draw) -> list[bytes]:
    """Return packets that were whole, cut short or changed somewhere behind their addresses."""

    def one() -> bytes:
        make = draw.rng.choice((_trace, _segments, _fragments, _hop_limit))
        frame = bytearray(from_provider(make(draw)))
        if draw.rng.random() < 0.5:
            return bytes(frame[: draw.rng.randrange(14, len(frame))])
        for _ in range(4):
            frame[draw.rng.randrange(54, len(frame))] = draw.rng.getrandbits(8)
        return bytes(frame)

    return draw.times(one)


def _options(draw: Draw) -> Packet:
    """Return a datagram with an option that asks for an error when it is not known (RFC 8200, section 4.2)."""
    header = bytes([UDP, 0, 0x9E, 4]) + draw.rng.randbytes(4)
    inner = addressed(LINK_ROUTER, draw)
    return Packet(inner.source, inner.destination, DESTINATION_OPTIONS, header + inner.payload)


def _echo_of_router(draw: Draw) -> list[bytes]:
    """Return the edge's own probe of a next hop, with a token that is guessed."""

    def one() -> bytes:
        body = bytes(2) + bytes(2) + draw.rng.randbytes(8)
        return from_provider(icmpv6.Message(icmpv6.ECHO_REQUEST, 0, body).packet(LINK_ROUTER, LINK_ROUTER, 254))

    return draw.times(one)


def _all_nodes(draw: Draw) -> list[bytes]:
    return [to_group(echo_request(MALLORY.link_local(), ALL_NODES), MALLORY)]


def _attack(name: str, about: str, wire: str, make: Make, is_message: bool = True) -> Attack:
    return Attack(name, about, Group.ON_LINK, wire, make, is_message=is_message)


ATTACKS = (
    _attack("lan-echo", "pings to the router", "mallory", _lan_echo),
    _attack("lan-na", "Neighbour Advertisements to the router", "mallory", _lan_na),
    _attack("lan-na-echo", "both at once", "mallory", _lan_na_and_echo),
    _attack("lan-ns", "Neighbour Solicitations for the router", "mallory", _lan_ns),
    _attack("lan-rs", "Router Solicitations", "mallory", _lan_rs),
    _attack("lan-multicast", "pings to all nodes", "mallory", _all_nodes, is_message=False),
    _attack("dhcp-solicit", "DHCPv6 Solicits of clients that are made up", "mallory", _dhcp_solicit),
    _attack("link-na", "Neighbour Advertisements in the provider's name", "a-p", _link_na),
    _attack("link-echo", "pings to the router from forged sources", "a-p", _link_echo),
    _attack("link-probe", "the edge's own probes of the next hop, with guessed tokens", "a-p", _echo_of_router),
    _attack("scan", "datagrams to addresses on the LAN that nobody has", "a-p", _scan),
    _attack("hop-limit", "packets whose hop limit ends here", "a-p", _errors(_hop_limit), is_message=False),
    _attack("no-route", "packets to a subnet that is not there", "a-p", _errors(_no_route), is_message=False),
    _attack("ioam", "traces (IOAM) to the router", "a-p", _errors(_trace)),
    _attack("srv6", "segment lists (SRv6) to the router", "a-p", _errors(_segments), is_message=False),
    _attack("options", "destination options that nobody knows", "a-p", _errors(_options)),
    _attack("fragments", "fragments to the router and to hosts", "a-p", _errors(_fragments)),
    _attack("malformed", "headers cut short and changed", "a-p", _malformed),
)
