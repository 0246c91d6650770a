"""The codecs, with scapy as the second opinion."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6ND_RA,
    ICMPv6ND_RS,
    ICMPv6NDOptDNSSL,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptMTU,
    ICMPv6NDOptPrefixInfo,
    ICMPv6NDOptRDNSS,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
)
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw

from wayname.wire import discovery, icmpv6, ipv6
from wayname.wire.checksum import internet_checksum
from wayname.wire.discovery import (
    NeighbourAdvertisement,
    NeighbourSolicitation,
    Prefix,
    Resolvers,
    RouterAdvertisement,
    RouterSolicitation,
    SearchDomains,
)
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import Frame, Tag
from wayname.wire.mac import Mac, group_mac, solicited_node
from wayname.wire.segments import SegmentHeader
from wayname.wire.source_routes import SourceRouteHeader

MAC = Mac.parse("02:00:00:00:00:11")
HERE, THERE = IPv6Address("fe80::11"), IPv6Address("fe80::1")
macs = st.integers(0, 2**48 - 1).map(Mac)
addresses = st.integers(0, 2**128 - 1).map(IPv6Address)


def packet(layers: Packet, source: str = "fe80::11", to: str = "fe80::1", hop_limit: int = 255) -> ipv6.Packet:
    """Return what we read of a packet that scapy wrote."""
    return ipv6.Packet.decode(bytes(IPv6(src=source, dst=to, hlim=hop_limit) / layers))


class TestAddresses:
    def test_macs_are_read_as_people_write_them(self) -> None:
        assert Mac.parse("02-00-00-00-00-11") == MAC == Mac.parse(str(MAC)) == Mac.unpack(MAC.packed)

    @pytest.mark.parametrize("text", ["", "02:00:00:00:00", "02:00:00:00:00:1g", "02:00-00:00:00:11", "020000000011"])
    def test_others_are_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="no MAC address"):
            Mac.parse(text)

    def test_groups(self) -> None:
        group = solicited_node(IPv6Address("2001:db8::12:3456"))
        assert (group, str(group_mac(group))) == (IPv6Address("ff02::1:ff12:3456"), "33:33:ff:12:34:56")
        assert group_mac(group).is_group and not MAC.is_group

    def test_link_local(self) -> None:
        assert Mac.parse("52:54:00:12:34:56").link_local() == IPv6Address("fe80::5054:ff:fe12:3456")


class TestChecksum:
    @given(st.binary(max_size=64))
    def test_is_the_sum_of_words(self, data: bytes) -> None:
        padded = data + b"\0" * (len(data) % 2)
        total = sum(int.from_bytes(padded[at : at + 2]) for at in range(0, len(padded), 2))
        while total >> 16:
            total = (total >> 16) + (total & 0xFFFF)
        assert internet_checksum(data) == total ^ 0xFFFF


class TestEthernet:
    def test_reads_what_scapy_writes(self) -> None:
        frame = Frame.decode(bytes(Ether(src=str(MAC), dst="33:33:00:00:00:01", type=0x1234) / Raw(b"data")))
        assert frame == Frame(Mac.parse("33:33:00:00:00:01"), MAC, 0x1234, b"data")
        tagged = Frame.decode(bytes(Ether(src=str(MAC)) / Dot1Q(vlan=7, prio=5, dei=1, type=0x1234) / Raw(b"data")))
        assert tagged.tag == Tag(7, 5, True)

    @given(macs, macs, st.integers(0, 0xFFFF).filter(lambda kind: kind != 0x8100), st.binary(max_size=99))
    def test_writes_what_it_reads(self, destination: Mac, source: Mac, kind: int, payload: bytes) -> None:
        for tag in (None, Tag(4094, 7, True)):
            frame = Frame(destination, source, kind, payload, tag)
            assert Frame.decode(frame.encode()) == frame


class TestIpv6:
    def test_writes_what_scapy_reads(self) -> None:
        ours = ipv6.Packet(HERE, THERE, 17, b"payload!", hop_limit=3, traffic_class=0xA5, flow_label=0x54321)
        theirs = IPv6(ours.encode())
        assert (theirs.tc, theirs.fl, theirs.hlim, theirs.plen, theirs.nh) == (0xA5, 0x54321, 3, 8, 17)
        assert ipv6.Packet.decode(ours.encode() + b"padding") == ours

    def test_walks_extension_headers(self) -> None:
        chain = IPv6ExtHdrHopByHop() / IPv6ExtHdrRouting(addresses=["::1"]) / IPv6ExtHdrDestOpt() / UDP() / Raw(b"x")
        upper = packet(chain).upper_layer()
        assert (upper.number, upper.data[-1:], upper.is_whole) == (17, b"x", True)

    def test_knows_fragments(self) -> None:
        first = packet(IPv6ExtHdrFragment(m=1, nh=58) / Raw(bytes(8))).upper_layer()
        later = packet(IPv6ExtHdrFragment(offset=3, nh=60) / Raw(bytes(8))).upper_layer()
        atomic = packet(IPv6ExtHdrFragment() / UDP()).upper_layer()
        assert [each.is_whole for each in (first, later, atomic)] == [False, False, True]
        assert (later.number, later.fragment_offset) == (60, 3)

    def test_authentication_counts_in_words_of_four(self) -> None:
        header = bytes([17, 4]) + bytes(22)
        upper = ipv6.Packet(HERE, THERE, ipv6.AUTHENTICATION, header + b"data").upper_layer()
        assert (upper.number, upper.data) == (17, b"data")

    @pytest.mark.parametrize("payload", [b"", bytes(7), bytes([17, 1]) + bytes(6), bytes(8) * 12])
    def test_chains_that_do_not_end_are_refused(self, payload: bytes) -> None:
        with pytest.raises(DecodeError):
            ipv6.Packet(HERE, THERE, ipv6.HOP_BY_HOP, payload).upper_layer()


class TestIcmpv6:
    def test_answers_an_echo_as_scapy_does(self) -> None:
        request = ICMPv6EchoRequest(id=0x1234, seq=7, data=b"odd")
        reply = icmpv6.echo_reply(icmpv6.Message.decode(packet(request))).packet(THERE, HERE)
        theirs = IPv6(src="fe80::1", dst="fe80::11") / ICMPv6EchoReply(id=0x1234, seq=7, data=b"odd")
        assert reply.encode() == bytes(theirs)

    def test_reports_as_scapy_does(self) -> None:
        about = bytes(IPv6(src="fe80::11", dst="fe80::1") / UDP() / Raw(bytes(1300)))
        report = icmpv6.unreachable(3, about).packet(THERE, HERE).encode()
        assert len(report) == 1280
        assert report == bytes(IPv6(src="fe80::1", dst="fe80::11") / ICMPv6DestUnreach(code=3) / Raw(about[:1232]))

    def test_wrong_checksums_are_refused(self) -> None:
        octets = bytearray(bytes(IPv6(src="fe80::11", dst="fe80::1") / ICMPv6EchoRequest()))
        octets[-1] ^= 1
        with pytest.raises(DecodeError, match="checksum"):
            icmpv6.Message.decode(ipv6.Packet.decode(bytes(octets)))

    @pytest.mark.parametrize(
        ("layers", "may"),
        [
            (UDP(), True),
            (ICMPv6EchoRequest(), True),
            (ICMPv6DestUnreach(), False),
            (IPv6ExtHdrFragment(offset=3, nh=58) / Raw(bytes(8)), False),
            (IPv6ExtHdrHopByHop() / ICMPv6DestUnreach(), False),
        ],
    )
    def test_nothing_is_reported_about_errors(self, layers: Packet, may: bool) -> None:
        assert icmpv6.may_be_reported(packet(layers)) is may

    def test_nothing_is_reported_to_or_about_groups(self) -> None:
        assert not icmpv6.may_be_reported(packet(UDP(), to="ff02::1"))
        assert not icmpv6.may_be_reported(packet(UDP(), source="::"))


class TestDiscovery:
    def test_solicitations(self) -> None:
        theirs = packet(ICMPv6ND_NS(tgt="fe80::1") / ICMPv6NDOptSrcLLAddr(lladdr=str(MAC)))
        ours = NeighbourSolicitation(THERE, MAC)
        assert discovery.decode(theirs) == ours
        assert ours.message().packet(HERE, THERE, 255) == theirs

    def test_advertisements(self) -> None:
        theirs = packet(ICMPv6ND_NA(tgt="fe80::11", R=1, S=0, O=1) / ICMPv6NDOptDstLLAddr(lladdr=str(MAC)))
        ours = NeighbourAdvertisement(HERE, MAC, router=True, override=True)
        assert discovery.decode(theirs) == ours
        assert ours.message().packet(HERE, THERE, 255) == theirs

    def test_router_solicitations(self) -> None:
        theirs = packet(ICMPv6ND_RS() / ICMPv6NDOptSrcLLAddr(lladdr=str(MAC)), to="ff02::2")
        assert discovery.decode(theirs) == RouterSolicitation(MAC)
        assert RouterSolicitation(MAC).message().packet(HERE, discovery.ALL_ROUTERS, 255) == theirs

    def test_router_advertisements(self) -> None:
        theirs = packet(
            ICMPv6ND_RA(chlim=64, M=0, O=1, H=0, prf=0, routerlifetime=1800, reachabletime=5, retranstimer=6)
            / ICMPv6NDOptSrcLLAddr(lladdr=str(MAC))
            / ICMPv6NDOptMTU(mtu=1400)
            / ICMPv6NDOptPrefixInfo(prefix="2001:db8::", prefixlen=64, L=1, A=1, validlifetime=9, preferredlifetime=8)
            / ICMPv6NDOptRDNSS(dns=["2001:db8::53", "2001:db8::54"], lifetime=7)
            / ICMPv6NDOptDNSSL(searchlist=["example.org.", "lab.example.org."], lifetime=8),
            to="ff02::1",
        )
        ours = RouterAdvertisement(
            lifetime=1800,
            other=True,
            reachable_ms=5,
            retransmission_ms=6,
            source_mac=MAC,
            mtu=1400,
            prefixes=(Prefix(IPv6Network("2001:db8::/64"), 9, 8),),
            resolvers=(Resolvers((IPv6Address("2001:db8::53"), IPv6Address("2001:db8::54")), 7),),
            domains=(SearchDomains(("example.org", "lab.example.org"), 8),),
        )
        assert discovery.decode(theirs) == ours
        assert ours.message().packet(HERE, discovery.ALL_NODES, 255) == theirs

    @pytest.mark.parametrize(
        ("wrong", "why"),
        [
            (packet(ICMPv6ND_NS(tgt="fe80::1"), hop_limit=254), "passed a router"),
            (packet(ICMPv6ND_NS(tgt="fe80::1", code=1)), "code 1"),
            (packet(ICMPv6ND_NS(tgt="ff02::1")), "is a group"),
            (packet(ICMPv6ND_NS(tgt="fe80::1"), source="::"), "not to a solicited node"),
            (
                packet(ICMPv6ND_NS(tgt="fe80::1") / ICMPv6NDOptSrcLLAddr(), source="::", to="ff02::1:ff00:1"),
                "with a source MAC",
            ),
            (packet(ICMPv6ND_NA(tgt="fe80::1", S=1), to="ff02::1"), "solicited advertisement to a group"),
            (packet(ICMPv6ND_RS() / ICMPv6NDOptSrcLLAddr(), source="::", to="ff02::2"), "unspecified"),
            (packet(ICMPv6ND_RA(), source="2001:db8::1"), "not from a link-local address"),
            (packet(ICMPv6ND_NS(tgt="fe80::1") / Raw(b"\1\0")), "option of length 0"),
            (packet(ICMPv6ND_NS(tgt="fe80::1") / Raw(b"\1\2aaaaaa")), "longer than what is left"),
            (packet(ICMPv6ND_NS(tgt="fe80::1") / Raw(b"\1")), "inside an option"),
            (packet(ICMPv6ND_NS(tgt="fe80::1") / Raw(b"\1\2" + bytes(14))), "none of Ethernet's"),
            (packet(ICMPv6EchoRequest()), "no discovery"),
        ],
    )
    def test_what_fails_a_check_is_ignored(self, wrong: ipv6.Packet, why: str) -> None:
        with pytest.raises(DecodeError, match=why):
            discovery.decode(wrong)

    def test_fragments_are_ignored(self) -> None:
        with pytest.raises(DecodeError, match="in fragments"):
            discovery.decode(packet(IPv6ExtHdrFragment() / ICMPv6ND_NS(tgt="fe80::1")))


class TestAnyOctets:
    """Whatever comes, there is a value or a `DecodeError`."""

    @given(st.binary(max_size=200))
    def test_as_frames_and_packets(self, octets: bytes) -> None:
        for read in (Frame.decode, ipv6.Packet.decode):
            try:
                read(octets)
            except DecodeError:
                continue

    @given(st.sampled_from([0, 43, 44, 51, 60, 135, 139, 140]), st.binary(max_size=300))
    def test_as_chains(self, number: int, octets: bytes) -> None:
        carried = ipv6.Packet(HERE, THERE, number, octets)
        try:
            assert carried.upper_layer().data in octets
        except DecodeError:
            assert not icmpv6.may_be_reported(carried)

    @given(st.integers(133, 136), addresses, st.binary(max_size=120))
    def test_as_discovery(self, kind: int, source: IPv6Address, body: bytes) -> None:
        carried = icmpv6.Message(kind, 0, body).packet(source, THERE, 255)
        try:
            again = discovery.decode(carried)
        except DecodeError:
            return
        # Unknown options aside, what is read can be written and read again.
        assert discovery.decode(again.message().packet(source, THERE, 255)) == again


@pytest.mark.parametrize("length", range(8))
def test_a_segment_routing_header_that_is_cut_short_is_refused(length: int) -> None:
    header = bytes([59, 0, 4, 0, 0, 0, 0, 0])[:length]
    packet = ipv6.Packet(IPv6Address("2001:db8::1"), IPv6Address("2001:db8::2"), ipv6.ROUTING, header)
    if length < 3:
        # Nothing says that it is one of segments.
        assert SegmentHeader.find(packet) is None
    else:
        with pytest.raises(DecodeError):
            SegmentHeader.find(packet)


def routed(header: bytes) -> ipv6.Packet:
    """Return a packet to 2001:db8::2 with a routing header."""
    return ipv6.Packet(IPv6Address("2001:db8::1"), IPv6Address("2001:db8::2"), ipv6.ROUTING, header)


@pytest.mark.parametrize(
    ("header", "addresses"),
    [
        ("3b04 0302 0000 0000 20010db8000000000000000000000007 20010db8000000000000000000000008", (7, 8)),
        ("3b01 0301 ff60 0000 0708 000000000000", (7, 8)),
        ("3b03 0303 8c40 0000 0000000000000007 0000000000000009 00000008 00000000", (7, 9, 8)),
    ],
)
def test_the_addresses_of_a_source_route_are_made_whole(header: str, addresses: tuple[int, ...]) -> None:
    route = SourceRouteHeader.find(routed(bytes.fromhex(header)))
    assert route is not None
    whole = tuple(IPv6Address("2001:db8::") + one for one in addresses)
    assert (route.addresses, route.next_address) == (whole, whole[len(whole) - route.segments_left])


@pytest.mark.parametrize(
    "header",
    [
        "3b00 03",
        "3b00 0301 0000 0000",
        "3b02 0302 0000 0000" + 16 * "00",
        "3b04 0301 0000 0000" + 16 * "00",
        "3b01 0301 00f0 0000" + 8 * "00",
    ],
)
def test_a_source_route_whose_numbers_contradict_each_other_is_refused(header: str) -> None:
    with pytest.raises(DecodeError):
        SourceRouteHeader.find(routed(bytes.fromhex(header)))
