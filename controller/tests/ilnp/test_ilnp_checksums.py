"""Checksums under rewriting: identifiers only, adjusted for whoever counts whole addresses, and mapped prefixes."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scapy.layers.inet import TCP
from scapy.layers.inet6 import IPv6

from wayname.ilnp.checksums import addresses_delta, adjust, identifiers_checksum, identifiers_delta
from wayname.ilnp.vectors import HALF_MASK, L64, Vector
from wayname.nptv6 import PrefixMapping, UnmappableError
from wayname.wire.checksum import address_delta, upper_layer_checksum

TCP_NUMBER, UDP_NUMBER = 6, 17
A, B = IPv6Address("2001:db8:a:1:0:ff:fe00:a"), IPv6Address("2001:db8:b:1:0:ff:fe00:b")
EXAMPLE = PrefixMapping(IPv6Network("fd01:203:405::/48"), IPv6Network("2001:db8:1::/48"))

# The pseudo-header of a real packet is never all zeros, so no sum of one is.
addresses = st.integers(1, (1 << 128) - 1).map(IPv6Address)
payloads = st.binary(max_size=64)


@given(addresses, addresses, payloads, st.integers(1, HALF_MASK))
def test_a_rewritten_locator_changes_no_checksum(
    source: IPv6Address, destination: IPv6Address, payload: bytes, locator: int
) -> None:
    moved = Vector(L64(locator), Vector.of(source).nid).address
    assert identifiers_checksum(moved, destination, TCP_NUMBER, payload) == identifiers_checksum(
        source, destination, TCP_NUMBER, payload
    )


def test_the_checksum_over_identifiers_is_that_of_scapy_with_locators_of_zero() -> None:
    segment = bytes(IPv6(src="::ff:fe00:a", dst="::ff:fe00:b") / TCP(sport=1, dport=2) / b"data")[40:]
    assert identifiers_checksum(A, B, TCP_NUMBER, segment) == 0
    blank = segment[:16] + bytes(2) + segment[18:]
    assert identifiers_checksum(A, B, TCP_NUMBER, blank) == int.from_bytes(segment[16:18])


@given(addresses, addresses, addresses, payloads)
@example(A, IPv6Address("::1"), IPv6Address("::2"), b"")
@example(IPv6Address((1 << 128) - 1), A, IPv6Address(1), bytes(2))
def test_an_adjusted_checksum_is_the_one_counted_anew(
    old: IPv6Address, peer: IPv6Address, new: IPv6Address, payload: bytes
) -> None:
    before = upper_layer_checksum(old, peer, TCP_NUMBER, payload)
    assert adjust(before, address_delta(old, new), TCP_NUMBER) == upper_layer_checksum(new, peer, TCP_NUMBER, payload)


@given(addresses, addresses, payloads)
def test_a_legacy_host_speaks_ilnp_by_its_edge_both_ways(
    source: IPv6Address, destination: IPv6Address, payload: bytes
) -> None:
    whole = upper_layer_checksum(source, destination, TCP_NUMBER, payload)
    over_ilnp = adjust(whole, identifiers_delta(source, destination), TCP_NUMBER)
    assert over_ilnp == identifiers_checksum(source, destination, TCP_NUMBER, payload)
    assert adjust(over_ilnp, addresses_delta(source, destination), TCP_NUMBER) == whole


def test_a_change_forth_and_back_and_no_change() -> None:
    checksum = upper_layer_checksum(A, B, UDP_NUMBER, b"data")
    there = adjust(checksum, address_delta(A, B), UDP_NUMBER)
    assert there != checksum
    assert adjust(there, address_delta(B, A), UDP_NUMBER) == checksum
    assert adjust(checksum, address_delta(A, A), UDP_NUMBER) == checksum


def test_udp_without_a_checksum_stays_without() -> None:
    assert adjust(0, address_delta(A, B), UDP_NUMBER) == 0
    assert adjust(0, address_delta(A, B), TCP_NUMBER) != 0


def test_udp_never_gets_a_checksum_of_zero_by_adjusting() -> None:
    checksums = {}
    for host in range(1 << 16):
        new = IPv6Address(int(A) & ~0xFFFF | host)
        checksums[adjust(0x1234, address_delta(A, new), UDP_NUMBER)] = new
    assert 0 not in checksums
    assert 0xFFFF in checksums


def test_the_example_of_rfc_6296() -> None:
    inside, outside = IPv6Address("fd01:203:405:1::1234"), IPv6Address("2001:db8:1:d550::1234")
    assert EXAMPLE.adjustment == 0xD54F
    assert EXAMPLE.out(inside) == outside
    assert EXAMPLE.back(outside) == inside


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ("fd01:203:405::/48", "2001:db8:1::/48"),
        ("fd01:203::/32", "2001:db8:1::/48"),
        ("fd01:203:405::/48", "2001:db8:1:f300::/56"),
        ("fd01:203:405:6::/64", "2001:db8:1:f3f4::/64"),
        ("2001:db8:1::/48", "2001:db8:1::/48"),
        ("fd00::/8", "2000::/8"),
    ],
)
@given(
    subnet=st.integers(0, 0xFFFE),
    identifier=st.integers(1, HALF_MASK - 1) | st.just(0xFFFF_0000_0000_0001) | st.just(0xFFFF_FFFF_FFFF_0000),
    peer=addresses,
    payload=payloads,
)
def test_mapping_is_one_to_one_and_no_checksum_changes(
    inside: str, outside: str, subnet: int, identifier: int, peer: IPv6Address, payload: bytes
) -> None:
    mapping = PrefixMapping(IPv6Network(inside), IPv6Network(outside))
    free = (1 << 128 - mapping.bits) - 1
    address = IPv6Address(int(mapping.inside.network_address) | (subnet << 64 | identifier) & free)
    mapped = mapping.out(address)
    assert mapped in mapping.outside
    assert mapping.back(mapped) == address
    assert upper_layer_checksum(mapped, peer, TCP_NUMBER, payload) == upper_layer_checksum(
        address, peer, TCP_NUMBER, payload
    )
    if mapping.bits <= 48:
        assert int(mapped) & HALF_MASK == identifier


@pytest.mark.parametrize(
    ("mapping", "address", "reason"),
    [
        (EXAMPLE, "fd01:203:405:ffff::1", "subnet 0xFFFF"),
        (EXAMPLE, "fd01:203:406::1", "is not in fd01:203:405::/48"),
        (
            PrefixMapping(IPv6Network("fd00::/48"), IPv6Network("2001:db8::/56")),
            "fd00:0:0:100::1",
            "56 bits are mapped",
        ),
        (PrefixMapping(IPv6Network("fd00::/64"), IPv6Network("2001:db8::/64")), "fd00::", "of zeros"),
        (
            PrefixMapping(IPv6Network("fd00::/64"), IPv6Network("2001:db8::/64")),
            "fd00::ffff:ffff:ffff:ffff",
            "of ones",
        ),
    ],
)
def test_addresses_that_have_no_counterpart(mapping: PrefixMapping, address: str, reason: str) -> None:
    with pytest.raises(UnmappableError, match=reason):
        mapping.out(IPv6Address(address))


def test_longer_prefixes_are_not_mapped() -> None:
    with pytest.raises(ValueError, match="at most 64 bits"):
        PrefixMapping(IPv6Network("fd00::/65"), IPv6Network("2001:db8::/64"))
