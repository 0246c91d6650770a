"""Decoders of what every edge reads: frames, IPv6, ICMPv6, UDP, DHCPv6, routing headers, traces."""

from __future__ import annotations

from collections.abc import Callable

from fuzz import genuine, tracking
from fuzz.genuine import sealed_packet
from fuzz.target import Target, carrying, octets_of, of_packet
from wayname.ioam.nodes import nodes_of
from wayname.ioam.options import TraceOption, trace_in
from wayname.session.errors import quoted_in
from wayname.wire import dhcpv6, discovery, icmpv6, udp
from wayname.wire.domains import decode_domains
from wayname.wire.ethernet import Frame, Tag
from wayname.wire.ipv6 import EXTENSIONS, ICMPV6, ROUTING, UDP, Packet
from wayname.wire.path_reports import PathReports
from wayname.wire.segments import ProvenSegments, SegmentHeader
from wayname.wire.source_routes import SourceRouteHeader
from wayname.wire.vrrp import VrrpAdvertisement


def read_packet(octets: bytes) -> object:
    """Walk a packet in the ways that the edge does."""
    packet = Packet.decode(octets)
    for skipped in (EXTENSIONS, EXTENSIONS - {139}, EXTENSIONS - {140}, EXTENSIONS - {43}):
        packet.upper_layer(skipped)
    return icmpv6.may_be_reported(packet), packet.encode()


def read_trace(octets: bytes) -> object:
    """Read a trace out of hop-by-hop options, and what nodes wrote."""
    trace = trace_in(octets)
    return trace and nodes_of(trace)


def hop_by_hops() -> list[bytes]:
    """Return hop-by-hop headers."""
    return [
        packet.payload[: (packet.payload[1] + 1) * 8] for packet in genuine.other_packets() if not packet.next_header
    ]


def icmp_in(octets: bytes) -> icmpv6.Message:
    """Return the ICMPv6 message of a packet."""
    return icmpv6.Message.decode(Packet.decode(octets))


def dhcp_option(code: int) -> Callable[[], list[bytes]]:
    """Return the data of an option as messages have it."""

    def seeds() -> list[bytes]:
        outer = [each for octets in genuine.dhcp_messages() for each in dhcpv6._options(octets[4:])]
        inner = [each for number, data in outer if number in (3, 25) for each in dhcpv6._options(data[12:])]
        return [data for number, data in (*outer, *inner) if number == code]

    return seeds


WIRE_TARGETS: tuple[Target, ...] = (
    Target(
        "Ethernet",
        ("wayname.wire.ethernet.Frame.decode", "wayname.wire.mac.Mac.unpack"),
        lambda: genuine.frames(genuine.other_packets()),
        Frame.decode,
    ),
    Target("a VLAN tag", ("wayname.wire.ethernet.Tag.decode",), lambda: [b"\x20\x0a"], Tag.decode),
    Target(
        "IPv6",
        ("wayname.wire.ipv6.Packet.decode", "wayname.wire.icmpv6.may_be_reported"),
        octets_of(genuine.all_packets),
        read_packet,
        sealed_packet,
    ),
    Target("ICMPv6", ("wayname.wire.icmpv6.Message.decode",), octets_of(genuine.other_packets), icmp_in, sealed_packet),
    Target(
        "path reports",
        ("wayname.wire.path_reports.PathReports.of",),
        lambda: [PathReports(1).contents(), PathReports(1, puts_in_order=True, eliminates=True).contents()],
        PathReports.of,
    ),
    Target(
        "quoted packets",
        ("wayname.session.errors.quoted_in",),
        carrying(ICMPV6),
        lambda octets: quoted_in(icmp_in(octets)),
        sealed_packet,
    ),
    Target(
        "discovery",
        (
            "wayname.wire.discovery.decode",
            "wayname.wire.discovery.Prefix.decode",
            "wayname.wire.discovery.Resolvers.decode",
            "wayname.wire.discovery.SearchDomains.decode",
        ),
        octets_of(genuine.discovery_packets),
        of_packet(discovery.decode),
        sealed_packet,
    ),
    Target(
        "UDP",
        ("wayname.wire.udp.Datagram.decode",),
        carrying(UDP),
        of_packet(udp.Datagram.decode),
        sealed_packet,
    ),
    Target(
        "VRRP",
        ("wayname.wire.vrrp.VrrpAdvertisement.decode",),
        octets_of(genuine.vrrp_packets),
        of_packet(VrrpAdvertisement.decode),
        sealed_packet,
    ),
    Target(
        "answers to probes of providers",
        (
            "wayname.wire.tcp.Segment.decode",
            "wayname.edge.tracking.probes.Probe.answered",
            "wayname.edge.tracking.probes.EchoProbe.answered",
            "wayname.edge.tracking.probes.TcpProbe.answered",
            "wayname.edge.tracking.probes.DnsProbe.answered",
            "wayname.edge.tracking.target.TrackedTarget.answered",
        ),
        tracking.answers,
        tracking.take,
        sealed_packet,
    ),
    Target(
        "DHCPv6",
        ("wayname.wire.dhcpv6.Message.decode", "wayname.wire.dhcpv6.Refused.decode"),
        lambda: list(genuine.dhcp_messages()),
        dhcpv6.Message.decode,
    ),
    Target("DHCPv6 IA_NA", ("wayname.wire.dhcpv6.Association.decode",), dhcp_option(3), dhcpv6.Association.decode),
    Target("DHCPv6 address", ("wayname.wire.dhcpv6.Lease.decode",), dhcp_option(5), dhcpv6.Lease.decode),
    Target("DHCPv6 IA_PD", ("wayname.wire.dhcpv6.Delegation.decode",), dhcp_option(25), dhcpv6.Delegation.decode),
    Target("DHCPv6 prefix", ("wayname.wire.dhcpv6.PrefixLease.decode",), dhcp_option(26), dhcpv6.PrefixLease.decode),
    Target("domain names", ("wayname.wire.domains.decode_domains",), dhcp_option(24), decode_domains),
    Target("DHCPv6 status", ("wayname.wire.dhcpv6.Status.decode",), dhcp_option(13), dhcpv6.Status.decode),
    Target(
        "segments",
        ("wayname.wire.segments.SegmentHeader.find",),
        carrying(ROUTING),
        of_packet(SegmentHeader.find),
        sealed_packet,
    ),
    Target(
        "proven segments",
        ("wayname.wire.segments.ProvenSegments.find",),
        lambda: [genuine.proven_packet().encode()],
        of_packet(ProvenSegments.find),
        sealed_packet,
    ),
    Target(
        "source routes",
        ("wayname.wire.source_routes.SourceRouteHeader.find",),
        carrying(ROUTING),
        of_packet(SourceRouteHeader.find),
        sealed_packet,
    ),
    Target(
        "a trace", ("wayname.ioam.options.TraceOption.decode", "wayname.ioam.options.trace_in"), hop_by_hops, read_trace
    ),
    Target(
        "a trace option",
        ("wayname.ioam.options.TraceOption.decode",),
        lambda: [bytes.fromhex("00 00 0007 1002 c00000 00") + bytes(16)],
        lambda octets: nodes_of(TraceOption.decode(octets)),
    ),
)
