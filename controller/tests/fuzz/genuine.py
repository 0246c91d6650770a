"""Genuine messages of all protocols, and what makes octets with changes right again where that would hide the rest."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache
from ipaddress import IPv6Address, IPv6Network

import dns.flags
import dns.message
import dns.rrset
from hip.keys import ecdsa, eddsa, rsa_identity
from hip.network import A1, A2, B1, EASY
from hip.network import Network as HipNetwork
from ilnp import network as ilnp
from sessions.test_inspection import Way, member
from shim6.test_shim6_hostile import FULL, PROBE, sealed
from shim6.test_shim6_proofs import networked

from wayname.hip.identities import Identity
from wayname.hip.messages import HEADER_OCTETS, with_checksum, with_length
from wayname.hip.messages import Kind as HipKind
from wayname.hip.messages import Message as HipMessage
from wayname.hip.parameters import Notification
from wayname.hip.proofs import sign
from wayname.hip.records import make_record
from wayname.hip.settings import Settings
from wayname.hip.transports import EspTransform
from wayname.ilnp.handshake import Control, Handshake
from wayname.ilnp.locator_update import LocatorUpdate, Operation
from wayname.ilnp.nonce import with_nonce
from wayname.ilnp.vectors import Vector
from wayname.ioam.options import direct_export_option, hop_by_hop
from wayname.session.keys import SessionKey
from wayname.wire import dhcpv6, discovery, icmpv6, ipv6
from wayname.wire.checksum import upper_layer_checksum
from wayname.wire.discovery import HOP_LIMIT
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import TYPE_IPV6, Frame, Tag
from wayname.wire.ipv6 import DESTINATION_OPTIONS, FRAGMENT, HIP, HOP_BY_HOP, ICMPV6, ROUTING, SHIM6, UDP, Packet
from wayname.wire.mac import Mac
from wayname.wire.segments import SegmentHeader
from wayname.wire.shim6.messages import I1, R1, Error, I2bis, Keepalive, R1bis, UpdateAcknowledgement, encode
from wayname.wire.shim6.options import ResponderValidator
from wayname.wire.udp import Datagram
from wayname.wire.vrrp import VRRP, VrrpAdvertisement

MAC, OTHER_MAC = Mac.parse("02:00:00:00:00:11"), Mac.parse("02:00:00:00:00:22")
HERE, THERE = IPv6Address("2001:db8:1::a"), IPv6Address("2001:db8:3::b")
OPEN = Settings(least_difficulty=1, formats=(EspTransform.number,), hides_identity=False)


@cache
def hip_packets() -> tuple[Packet, ...]:
    """Return the messages of associations: open ones and hidden ones, with keys of all kinds, from I1 to CLOSE_ACK."""
    packets: list[Packet] = []
    identities: list[tuple[Identity, Identity]] = [
        (ecdsa(1), ecdsa(2)),
        (rsa_identity(), ecdsa(2)),
        (eddsa(1), rsa_identity()),
    ]
    for settings in (OPEN, EASY):
        for both in identities:
            network = HipNetwork(settings, identities=both)
            inject = network.inject

            def note(packet: Packet, inject: object = inject) -> None:
                packets.append(packet)
                assert callable(inject)
                inject(packet)

            network.inject = note  # type: ignore[method-assign]
            network.connect(network.a)
            network.drive(2.0)
            network.move(network.a, A1, A2)
            network.drive(2.0)
            network.a.endpoint.disconnect(network.names, network.now)
            network.collect()
            network.drive(2.0)
    notify = HipMessage(HipKind.NOTIFY, ecdsa(1).hit, ecdsa(2).hit, (Notification(44), ecdsa(1).host))
    packets.append(Packet(A1, B1, HIP, with_checksum(sign(notify, ecdsa(1)), A1, B1)))
    return tuple(packets)


@cache
def shim6_packets() -> tuple[Packet, ...]:
    """Return the messages of contexts, of hosts that sign and of hash-based ones, and one of each kind beside."""
    packets: list[Packet] = []
    way = Way()
    way.network.establish(way.network.a, SessionKey(way.a.ulid, way.b.ulid))
    packets += way.packets()
    way.network.move(way.network.b, member("b", [IPv6Network("2001:db8:3::/64")], generation=2))
    packets += way.packets()
    network, name, _ = networked()
    network.establish(network.a, name)
    while network.under_way:
        packets.append(network.under_way[0][1])
        network.step()
    others = (
        FULL,
        PROBE,
        I1(1, 2),
        R1(1, 2, (ResponderValidator(bytes(16)),)),
        R1bis(3, 4, (ResponderValidator(bytes(16)),)),
        I2bis(1, 2, 3, 4, FULL.options),
        Keepalive(7),
        UpdateAcknowledgement(7, 8),
        Error(1, 42, packets[0].encode()),
    )
    packets += [Packet(HERE, THERE, SHIM6, encode(each)) for each in others]
    # A payload header with a datagram behind it.
    packets.append(Packet(HERE, THERE, SHIM6, bytes([UDP, 0, 0x80, 0, 0, 0, 0, 7]) + bytes(16)))
    return tuple(packets)


@cache
def ilnp_packets() -> tuple[Packet, ...]:
    """Return the messages of sessions, and packets with nonces."""
    a, b = Vector(ilnp.A1, ilnp.A_NID), Vector(ilnp.B1, ilnp.B_NID)
    nonce, other = b"\1" * 12, b"\2" * 12
    packets = [
        ilnp.handshake(a, b, Handshake(Control.REQUEST, nonce)),
        ilnp.handshake(b, a, Handshake(Control.REQUEST_AND_ACKNOWLEDGE, other, nonce)),
        ilnp.handshake(a, b, Handshake(Control.ACKNOWLEDGE, nonce, other)),
        ilnp.handshake(a, b, Handshake(Control.REQUEST, b"\3" * 4)),
        ilnp.data(a, b, nonce),
        ilnp.data(a, b),
    ]
    update = LocatorUpdate(Operation.ADVERTISEMENT, ilnp.listed(ilnp.A1, ilnp.A2))
    packets.append(with_nonce(icmpv6.Message(156, 0, update.encode()).packet(a.address, b.address), nonce))
    at = ipv6.HEADER_BYTES + 2
    problem = icmpv6.parameter_problem(at, packets[0].encode())
    packets.append(icmpv6.Message(problem.type, 2, problem.body).packet(b.address, a.address))
    return tuple(packets)


@cache
def discovery_packets() -> tuple[Packet, ...]:
    """Return messages of discovery, with every option."""
    link_local = MAC.link_local()
    prefix = discovery.Prefix(IPv6Network("2001:db8:9::/64"), 100, 50)
    resolvers = discovery.Resolvers((HERE, THERE), 60)
    domains = discovery.SearchDomains(("example.org", "lab.example.org"), 60)
    messages = (
        discovery.NeighbourSolicitation(HERE, MAC),
        discovery.NeighbourAdvertisement(HERE, MAC, True, True, True),
        discovery.RouterSolicitation(MAC),
        discovery.RouterAdvertisement(
            1800, source_mac=MAC, mtu=1500, prefixes=(prefix,), resolvers=(resolvers,), domains=(domains,)
        ),
    )
    return tuple(each.message().packet(link_local, HERE, HOP_LIMIT) for each in messages)


@cache
def dhcp_messages() -> tuple[bytes, ...]:
    """Return messages of DHCPv6."""
    status = dhcpv6.Status(dhcpv6.Code.NO_ADDRESSES, "none")
    leases = (dhcpv6.Lease(HERE, 100, 200), dhcpv6.Lease(THERE, 0, 0, status))
    associations = (dhcpv6.Association(1, leases, 50, 80), dhcpv6.Association(2, status=status))
    others = (dhcpv6.Refused(1, status),)
    prefixes = (
        dhcpv6.PrefixLease(IPv6Network("2001:db8:7700::/40"), 100, 200),
        dhcpv6.PrefixLease(IPv6Network("2001:db8::/56"), 0, 0, status),
    )
    delegations = (dhcpv6.Delegation(1, prefixes, 50, 80), dhcpv6.Delegation(2, status=status))
    client, server = b"\0\3\0\1" + MAC.packed, b"\0\3\0\1" + OTHER_MAC.packed
    return tuple(
        dhcpv6.Message(
            kind,
            7,
            client,
            named,
            associations,
            others,
            True,
            5,
            status,
            delegations,
            7,
            (23, 24),
            (HERE,),
            ("example.org",),
            60,
        ).encode()
        for kind in dhcpv6.Kind
        for named in (None, server)
    )


def proven_packet() -> Packet:
    """Return a packet with segments and their HMAC."""
    header = bytes([ICMPV6, 9, 4, 1, 1, 0, 0, 0]) + HERE.packed + THERE.packed
    return Packet(HERE, THERE, ROUTING, header + bytes([5, 38, 0, 0, 0, 0, 0, 8]) + bytes(range(32)))


@cache
def other_packets() -> tuple[Packet, ...]:
    """Return packets with extension headers, traces, segments, fragments, and ICMPv6 errors about packets."""
    echo = icmpv6.Message(icmpv6.ECHO_REQUEST, 0, b"\0\1\0\2ping")
    plain = echo.packet(HERE, THERE)
    trace = bytes([0, 0, 0, 7, 0x10, 0x02]) + bytes.fromhex("c0000000") + bytes(8) + bytes.fromhex("3f000abc00010004")
    options = hop_by_hop(ICMPV6, bytes([0x31, len(trace)]) + trace)
    exports = hop_by_hop(ICMPV6, direct_export_option(1, 2, 3))
    segments = SegmentHeader(1, (HERE, THERE)).encode(ICMPV6)
    # Two addresses of which the first 15 octets are those of the destination, and six octets of padding.
    route = bytes([ICMPV6, 1, 3, 1, 0xFF, 0x60, 0, 0, 7, 8]) + bytes(6)
    destination = bytes([ICMPV6, 0, 1, 4, 0, 0, 0, 0])
    fragment = bytes([ICMPV6, 0, 0, 1, 0, 0, 0, 9])
    headers = (
        (HOP_BY_HOP, options),
        (HOP_BY_HOP, exports),
        (ROUTING, segments),
        (ROUTING, route),
        (DESTINATION_OPTIONS, destination),
        (FRAGMENT, fragment),
    )
    packets = [plain, *(Packet(HERE, THERE, number, header + plain.payload) for number, header in headers)]
    packets.append(Packet(HERE, THERE, HOP_BY_HOP, hop_by_hop(59, bytes([0x31, len(trace)]) + trace)))
    packets.append(Datagram(546, 547, dhcp_messages()[0]).packet(MAC.link_local(), IPv6Address("ff02::1:2")))
    packets.append(Datagram(1000, 2000, b"data").packet(HERE, THERE))
    quoted = (plain, *shim6_packets()[-2:], *ilnp_packets(), *packets[1:3])
    for kind in (icmpv6.UNREACHABLE, icmpv6.PACKET_TOO_BIG, icmpv6.TIME_EXCEEDED, icmpv6.PARAMETER_PROBLEM):
        for each in quoted:
            body = (1300).to_bytes(4) + each.encode()
            packets.append(icmpv6.Message(kind, 1, body).packet(THERE, HERE))
    return tuple(packets)


def all_packets() -> tuple[Packet, ...]:
    """Return genuine packets of everything."""
    return hip_packets() + shim6_packets() + ilnp_packets() + discovery_packets() + other_packets()


def frames(packets: Iterable[Packet]) -> list[bytes]:
    """Return packets in frames, some with a tag."""
    return [
        Frame(OTHER_MAC, MAC, TYPE_IPV6, packet.encode(), Tag(10) if number % 5 == 4 else None).encode()
        for number, packet in enumerate(packets)
    ]


@cache
def answers() -> tuple[bytes, ...]:
    """Return answers of a DNS server with the records that are looked for."""
    records = (
        ("b1.lab.test.", "NID", "10 0000:0000:0002:0011"),
        ("b1.lab.test.", "L64", "10 2001:0db8:0102:0010"),
        ("b1.lab.test.", "LP", "10 b.lab.test."),
        ("b.lab.test.", "L64", "10 2001:0db8:0102:0010"),
        ("b.lab.test.", "HIP", make_record(ecdsa(2).host).to_text()),
        ("b.lab.test.", "HIP", make_record(rsa_identity().host).to_text()),
        ("b.lab.test.", "HIP", make_record(eddsa(2).host).to_text()),
    )
    wire = []
    for name, kind, text in records:
        answer = dns.message.make_response(dns.message.make_query(name, kind, id=1))
        answer.flags |= dns.flags.AA
        answer.answer.append(dns.rrset.from_text(name, 300, "IN", kind, text))
        wire.append(answer.to_wire())
    return tuple(wire)


def vrrp_packets() -> tuple[Packet, ...]:
    """Return what edges of a site say of a router with one address and with two, and of one that is let go."""
    addresses = (IPv6Address("fe80::1"), IPv6Address("2001:db8:1::1"))
    said = [(100, addresses[:1]), (200, addresses), (0, addresses)]
    return tuple(VrrpAdvertisement(7, each, 20, own).packet(IPv6Address("fe80::5")) for each, own in said)


def sealed_packet(octets: bytes) -> bytes:
    """Return an IPv6 packet with lengths and checksums that are right, as far as it can be told what they are."""
    if len(octets) < ipv6.HEADER_BYTES:
        return octets
    length = (len(octets) - ipv6.HEADER_BYTES).to_bytes(2)
    octets = bytes([0x60 | octets[0] & 0xF]) + octets[1:4] + length + octets[6:]
    packet = Packet.decode(octets)
    try:
        upper = packet.upper_layer(ipv6.EXTENSIONS - {HIP, SHIM6})
    except DecodeError:
        return octets
    data = _right(upper.number, upper.data, packet)
    return octets[: len(octets) - len(upper.data)] + data


def sealed_frame(octets: bytes) -> bytes:
    """Return a frame whose packet is right as far as that goes."""
    head = 18 if octets[12:14] == b"\x81\0" else 14
    return octets[:head] + sealed_packet(octets[head:])


def sealed_hip(octets: bytes) -> bytes:
    """Return a HIP message between two addresses with the right length, version and checksum."""
    if len(octets) < HEADER_OCTETS:
        return octets
    octets += bytes(-len(octets) % 8)
    return with_checksum(with_length(octets[:3] + b"\x21" + octets[4:]), A1, B1)


def sealed_shim6(octets: bytes) -> bytes:
    """Return a Shim6 message with the right length and checksum."""
    return sealed(octets) if octets else octets


def _right(number: int, data: bytes, packet: Packet) -> bytes:
    if number == HIP and len(data) >= HEADER_OCTETS:
        data = data[: len(data) // 8 * 8]
        return with_checksum(with_length(data), packet.source, packet.destination)
    if number == SHIM6 and len(data) >= 8 and not data[2] & 0x80:
        return sealed(data[: len(data) // 8 * 8])
    at = {ICMPV6: 2, UDP: 6, VRRP: 6}.get(number)
    if at is None or len(data) < at + 2:
        return data
    if number == UDP:
        data = data[:4] + len(data).to_bytes(2) + data[6:]
    blank = data[:at] + bytes(2) + data[at + 2 :]
    checksum = upper_layer_checksum(packet.source, packet.destination, number, blank) or 0xFFFF * (number == UDP)
    return blank[:at] + checksum.to_bytes(2) + blank[at + 2 :]


def by_lot(seed: int) -> random.Random:
    """Return what decides at random."""
    return random.Random(seed)
