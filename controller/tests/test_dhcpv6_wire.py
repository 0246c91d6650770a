"""The codec of DHCPv6 (RFC 8415), against scapy's layers."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

import pytest
from dhcp_client import Answer, Client
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.dhcp6 import (
    DUID_LL,
    DHCP6_Reply,
    DHCP6_Request,
    DHCP6OptClientId,
    DHCP6OptDNSDomains,
    DHCP6OptDNSServers,
    DHCP6OptIA_NA,
    DHCP6OptIA_PD,
    DHCP6OptIA_TA,
    DHCP6OptIAPrefix,
    DHCP6OptServerId,
)
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6

from wayname.wire import ipv6
from wayname.wire.dhcpv6 import Association, Code, Delegation, Kind, Lease, Message, PrefixLease, Refused, Status
from wayname.wire.domains import decode_domains
from wayname.wire.errors import DecodeError
from wayname.wire.udp import Datagram

A, B = IPv6Address("2001:db8:1::1"), IPv6Address("2001:db8:2::1")
DUID = bytes.fromhex("00030001020000000011")
HOST, ROUTER = IPv6Address("fe80::11"), IPv6Address("fe80::1")

texts = st.text(max_size=20)
statuses = st.none() | st.builds(Status, st.sampled_from(Code), texts)
words = st.integers(0, 2**32 - 1)
leases = st.tuples(st.integers(0, 2**128 - 1), words, words, statuses).map(
    lambda drawn: Lease(IPv6Address(drawn[0]), min(drawn[1:3]), max(drawn[1:3]), drawn[3])
)
associations = st.tuples(words, st.lists(leases, max_size=3).map(tuple), words, words, statuses).map(
    lambda drawn: Association(drawn[0], drawn[1], min(drawn[2:4]), max(drawn[2:4]), drawn[4])
)
refused = st.builds(Refused, words)
prefixes = st.tuples(st.integers(0, 2**128 - 1), st.integers(0, 128), words, words, statuses).map(
    lambda drawn: PrefixLease(
        IPv6Network((drawn[0], drawn[1]), strict=False), min(drawn[2:4]), max(drawn[2:4]), drawn[4]
    )
)
delegations = st.tuples(words, st.lists(prefixes, max_size=3).map(tuple), words, words, statuses).map(
    lambda drawn: Delegation(drawn[0], drawn[1], min(drawn[2:4]), max(drawn[2:4]), drawn[4])
)
addresses = st.integers(0, 2**128 - 1).map(IPv6Address)
domains = st.from_regex(r"[a-z0-9-]{1,10}(\.[a-z0-9_]{1,10}){0,3}", fullmatch=True)
duids = st.none() | st.binary(min_size=3, max_size=130)
messages = st.builds(
    Message,
    st.sampled_from(Kind),
    st.integers(0, 2**24 - 1),
    duids,
    duids,
    st.lists(associations, max_size=2, unique_by=lambda each: each.iaid).map(tuple),
    st.lists(refused, max_size=2).map(tuple),
    st.booleans(),
    st.none() | st.integers(0, 255),
    statuses,
    st.lists(delegations, max_size=2, unique_by=lambda each: each.iaid).map(tuple),
    st.none() | st.integers(0, 2**16 - 1),
    st.lists(st.integers(0, 2**16 - 1), max_size=3).map(tuple),
    st.lists(addresses, max_size=3).map(tuple),
    st.lists(domains, max_size=3).map(tuple),
    st.none() | words,
)


@given(messages)
def test_what_is_written_is_read(message: Message) -> None:
    assert Message.decode(message.encode()) == message


@given(st.binary(max_size=200), st.sampled_from(Kind))
def test_nothing_but_a_decode_error_comes_of_nonsense(octets: bytes, kind: Kind) -> None:
    for each in (octets, bytes([kind, 0, 0, 1]) + octets):
        try:
            message = Message.decode(each)
        except DecodeError:
            continue
        assert message.kind in set(Kind)


def test_scapy_reads_a_reply() -> None:
    association = Association(7, (Lease(A, 100, 200), Lease(B, 0, 0, Status(Code.NOT_ON_LINK, "gone"))), 50, 80)
    answer = Answer(Message(Kind.REPLY, 0xABCDEF, DUID, DUID, (association,), status=Status(Code.SUCCESS)).encode())
    assert (answer.kind, answer.transaction, answer.status) == (7, 0xABCDEF, 0)
    assert (answer.iaid, answer.times) == (7, (50, 80))
    assert answer.leases == {A: (100, 200), B: (0, 0)}


def test_a_request_of_scapy_is_read() -> None:
    client = Client("02:00:00:00:00:11", iaid=9)
    client.server = DUID_LL(lladdr="02:00:00:00:00:01")
    message = Message.decode(client.message("request", addresses=[A]))
    assert message == Message(
        Kind.REQUEST,
        client.transaction,
        DUID,
        bytes.fromhex("00030001020000000001"),
        (Association(9, (Lease(A),)),),
        elapsed=0,
        requested=message.requested,
    )
    solicit = Message.decode(client.message("solicit", rapid=True))
    assert (solicit.kind, solicit.rapid_commit, solicit.server) == (Kind.SOLICIT, True, None)


def test_other_associations_are_named() -> None:
    packet = DHCP6_Request(trid=1) / DHCP6OptIA_TA(iaid=5) / DHCP6OptIA_PD(iaid=6)
    assert Message.decode(bytes(packet)).others == (Refused(5),)
    assert Message.decode(bytes(packet)).delegations == (Delegation(6),)


@pytest.mark.parametrize(
    ("octets", "why"),
    [
        (b"\1\0\0", "at least 4 octets"),
        (b"\x0c\0\0\0", "message 12 is none between client and server"),
        (b"\1\0\0\0\0\1\0", "inside an option's head"),
        (b"\1\0\0\0\0\1\0\5abc", "longer than what is left"),
        (b"\1\0\0\0\0\1\0\2ab", "3 to 130 octets"),
        (b"\1\0\0\0\0\1\0\3abc\0\1\0\3abc", "option 1 stands twice"),
        (b"\1\0\0\0\0\3\0\4abcd", "IA_NA of less than 12"),
        (bytes(DHCP6_Request() / DHCP6OptIA_NA(iaid=1, T1=9, T2=8)), "T1 is after its T2"),
        (bytes(DHCP6_Request() / DHCP6OptIA_NA(iaid=1) / DHCP6OptIA_NA(iaid=1)), "two IA_NA with one IAID"),
        (b"\1\0\0\0" + Lease(A, 1, 1).encode()[:12], "longer than what is left"),
        (b"\1\0\0\0\0\3\0\x2c" + bytes(12) + b"\0\5\0\x1c" + bytes(19) + b"\2\0\0\0\1" + bytes(4), "preferred longer"),
        (b"\1\0\0\0\0\4\0\2ab", "without its IAID"),
        (b"\1\0\0\0\0\7\0\2ab", "option 7 has 1 octets"),
        (b"\1\0\0\0\0\x17\0\5abcde", "name servers in 5 octets"),
        (b"\1\0\0\0\0\6\0\1a", "numbers of options in 1 octets"),
        (b"\1\0\0\0\0\x19\0\4abcd", "IA_PD of less than 12"),
        (b"\1\0\0\0" + PrefixLease(IPv6Network("::/0"), 1, 1).encode()[:9], "longer than what is left"),
        (bytes(DHCP6_Request() / DHCP6OptIA_PD(iaid=1) / DHCP6OptIA_PD(iaid=1)), "two IA_PD with one IAID"),
        (b"\1\0\0\0\0\x19\0\x29" + bytes(12) + b"\0\x1a\0\x19" + bytes(8) + b"\x81" + bytes(16), "129 bits"),
        (b"\1\0\0\0\0\x0d\0\1a", "a status without its code"),
    ],
)
def test_what_is_wrong_is_said(octets: bytes, why: str) -> None:
    with pytest.raises(DecodeError, match=why):
        Message.decode(octets)


def test_a_status_that_is_not_known_is_a_failure() -> None:
    assert Status.decode(b"\1\0more") == Status(Code.UNSPECIFIED, "more")


def test_a_duid_of_scapy() -> None:
    assert (
        Message.decode(bytes(DHCP6_Request() / DHCP6OptClientId(duid=DUID_LL(lladdr="02:00:00:00:00:11")))).client
        == DUID
    )


@given(st.binary(max_size=40))
def test_datagrams_are_those_of_scapy(data: bytes) -> None:
    packet = Datagram(547, 546, data).packet(ROUTER, HOST)
    theirs = IPv6(src=str(ROUTER), dst=str(HOST)) / UDP(sport=547, dport=546) / data
    assert packet.encode() == bytes(theirs)
    assert Datagram.decode(packet) == Datagram(547, 546, data)


@pytest.mark.parametrize(
    ("octets", "why"),
    [
        (b"\0" * 7, "at least 8 octets"),
        (bytes.fromhex("0222022300090001"), "a UDP length of 9"),
        (bytes.fromhex("0222022300070001"), "a UDP length of 7"),
        (bytes.fromhex("0222022300080000"), "without a checksum"),
        (bytes.fromhex("0222022300080001"), "checksum is wrong"),
    ],
)
def test_a_wrong_datagram(octets: bytes, why: str) -> None:
    with pytest.raises(DecodeError, match=why):
        Datagram.decode(ipv6.Packet(HOST, ROUTER, ipv6.UDP, octets))


def test_a_datagram_is_whole_and_no_other_protocol() -> None:
    whole = Datagram(547, 546, b"data").packet(HOST, ROUTER)
    with pytest.raises(DecodeError, match="no whole UDP datagram"):
        Datagram.decode(ipv6.Packet(HOST, ROUTER, 6, whole.payload))
    padded = ipv6.Packet(HOST, ROUTER, ipv6.UDP, whole.payload + b"more")
    assert Datagram.decode(padded).data == b"data"


def test_a_delegation_of_scapy_is_read_and_scapy_reads_ours() -> None:
    network = IPv6Network("2001:db8:77::/48")
    option = DHCP6OptIAPrefix(preflft=60, validlft=90, plen=48, prefix="2001:db8:77::")
    theirs = (
        DHCP6_Reply(trid=5)
        / DHCP6OptClientId(duid=DUID_LL(lladdr="02:00:00:00:00:11"))
        / DHCP6OptServerId(duid=DUID_LL(lladdr="02:00:00:00:00:01"))
        / DHCP6OptIA_PD(iaid=3, T1=30, T2=48, iapdopt=[option])
        / DHCP6OptDNSServers(dnsservers=[str(A), str(B)])
        / DHCP6OptDNSDomains(dnsdomains=["example.org.", "lab.example.org."])
    )
    read = Message.decode(bytes(theirs))
    assert read.delegations == (Delegation(3, (PrefixLease(network, 60, 90),), 30, 48),)
    assert (read.dns_servers, read.search_domains) == ((A, B), ("example.org", "lab.example.org"))
    again = DHCP6_Reply(read.encode())
    assert (again[DHCP6OptIA_PD].iaid, again[DHCP6OptIA_PD].T1, again[DHCP6OptIA_PD].T2) == (3, 30, 48)
    prefix = again[DHCP6OptIA_PD].iapdopt[0]
    assert (prefix.prefix, prefix.plen, prefix.preflft, prefix.validlft) == ("2001:db8:77::", 48, 60, 90)


@pytest.mark.parametrize(
    "octets", ["40" + "61" * 64, "0361", "0161", "01" + "2e" + "00", "01" + "00" + "00", ("3f" + "61" * 63) * 4 + "00"]
)
def test_names_that_are_none(octets: str) -> None:
    with pytest.raises(DecodeError):
        decode_domains(bytes.fromhex(octets))
