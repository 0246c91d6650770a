"""The DNS records of ILNP, through messages of dnspython and as RFC 6742 writes them."""

from __future__ import annotations

from ipaddress import IPv4Address

import dns.message
import dns.name
import dns.rdata
import dns.rdatatype
import dns.rrset
import pytest

from wayname.ilnp.locator_update import Listed
from wayname.ilnp.records import Identified, LocatedV4, Pointed, Told, make_records, read_records
from wayname.ilnp.vectors import L64, NID

HOST = dns.name.from_text("host1.example.com.")
SUBNET = dns.name.from_text("l64-subnet1.example.com.")
ALL: list[Told] = [
    Listed(L64(0x2001_0DB8_1140_1000), 10, 5),
    Identified(NID(0x0014_4FFF_FF20_EE64), 11, 3600),
    LocatedV4(IPv4Address("10.1.2.0"), 12, 60),
    Pointed(SUBNET, 13, 86400),
]


def test_records_come_back_through_a_message() -> None:
    answer = dns.message.make_response(dns.message.make_query(HOST, dns.rdatatype.NID))
    answer.answer.extend(make_records(HOST, ALL))
    read = dns.message.from_wire(answer.to_wire())
    assert read_records(read.answer) == ALL


@pytest.mark.parametrize(
    ("told", "kind", "octets"),
    [
        (ALL[0], 106, bytes.fromhex("000a 20010db811401000")),
        (ALL[1], 104, bytes.fromhex("000b 00144fffff20ee64")),
        (ALL[2], 105, bytes.fromhex("000c 0a010200")),
        (ALL[3], 107, b"\x00\x0d\x0bl64-subnet1\x07example\x03com\0"),
    ],
)
def test_records_are_what_the_rfc_draws(told: Told, kind: int, octets: bytes) -> None:
    (rrset,) = make_records(HOST, [told])
    assert (int(rrset.rdtype), rrset[0].to_wire(), rrset.ttl) == (kind, octets, told.lifetime)


def test_records_are_written_as_the_rfc_writes_them() -> None:
    texts = [rrset.to_text() for rrset in make_records(HOST, ALL)]
    assert texts == [
        "host1.example.com. 5 IN L64 10 2001:0db8:1140:1000",
        "host1.example.com. 3600 IN NID 11 0014:4fff:ff20:ee64",
        "host1.example.com. 60 IN L32 12 10.1.2.0",
        "host1.example.com. 86400 IN LP 13 l64-subnet1.example.com.",
    ]
    assert read_records([dns.rrset.from_text(HOST, 9, "IN", "NID", "10 0014:4fff:ff20:ee64")]) == [
        Identified(NID(0x0014_4FFF_FF20_EE64), 10, 9)
    ]


def test_the_most_preferred_comes_first_and_other_records_are_left_out() -> None:
    rrsets = [
        dns.rrset.from_text(HOST, 5, "IN", "AAAA", "2001:db8::1"),
        dns.rrset.from_text(HOST, 5, "IN", "L64", "20 2001:0db8:0002:0000", "10 2001:0db8:0001:0000"),
    ]
    assert [one.preference for one in read_records(rrsets)] == [10, 20]


def test_records_of_a_kind_share_the_shortest_lifetime() -> None:
    told = [Listed(L64(1), 1, 300), Listed(L64(2), 2, 20), Listed(L64(3), 3, 100)]
    (rrset,) = make_records(HOST, told)
    assert (len(rrset), rrset.ttl) == (3, 20)


def test_a_name_cannot_point_at_itself() -> None:
    with pytest.raises(ValueError, match="cannot point at itself"):
        make_records(HOST, [Pointed(HOST, 1, 1)])
