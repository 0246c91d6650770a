"""The border of a site: prefixes of providers for that of the inside (RFC 6296), and who may send from where."""

from __future__ import annotations

import random
from ipaddress import IPv6Network

import pytest
from border_flows import HOST, any_address, datagram, tcp
from border_site import out_of
from border_switch import BorderSwitch, drops, less
from carriers import ones_sum
from mapped_packets import all_kinds
from scapy.layers.inet6 import ICMPv6DestUnreach, ICMPv6EchoRequest, ICMPv6PacketTooBig, IPv6
from scapy.packet import Packet, Raw
from session_site import from_host, in_by

from small_site import ADDRESS, FAR, IP_OF
from wayname.nptv6 import PrefixMapping, UnmappableError

LOCAL = 1  # PUNT_LOCAL


@pytest.mark.parametrize("provider", [1, 2])
def test_all_kinds_of_packets_are_another_address_s_and_checksums_stay(provider: int) -> None:
    switch = BorderSwitch(home=provider)
    outside = out_of(HOST, provider)
    for number, (sent, leaves) in enumerate(zip(all_kinds(HOST, FAR), all_kinds(outside, FAR), strict=True)):
        if ICMPv6PacketTooBig in sent or ICMPv6DestUnreach in sent:
            continue  # quotes have their own test
        assert switch.goes_out(number, sent) == (provider, less(leaves))
    for number, (came, arrives) in enumerate(zip(all_kinds(FAR, outside), all_kinds(FAR, HOST), strict=True), 20):
        if ICMPv6PacketTooBig in came or ICMPv6DestUnreach in came:
            continue
        assert switch.comes_in(number, provider, came) == less(arrives)


PAIRS = [
    ("fd01:203:405::/48", "2001:db8:1::/48"),
    ("fd01:203:405::/48", "2001:db9::/32"),
    ("2001:db8:1::/48", "2001:db8:ff00::/40"),
    ("fd01:203:405::/48", "2001:db8:1:ab00::/56"),
    ("fd01:203:405:60::/60", "2001:db8:1::/48"),
    ("fd01:203:405:67::/64", "2001:db8:1:2::/64"),
]


@pytest.mark.parametrize(("inside", "outside"), PAIRS)
def test_addresses_change_as_the_arithmetic_of_the_rfc_has_it(inside: str, outside: str) -> None:
    made = PrefixMapping(IPv6Network(inside), IPv6Network(outside))
    switch = BorderSwitch(prefixes={1: made.outside}, inside=made.inside)
    switch.add("routes", "route_connected", {"destination": inside}, {"vlan": 1})
    rng = random.Random(f"{inside} {outside}")
    met = {"refused": 0, "changed": 0}
    for number in range(300):
        address = any_address(rng, made.inside)
        sent = bytes(datagram(str(address), FAR, sport=number))
        try:
            expected = made.out(address)
        except UnmappableError:
            assert switch.goes_out(number, sent) is None
            met["refused"] += 1
            continue
        leaves = sent[:8] + expected.packed + sent[24:]
        assert switch.goes_out(number, sent) == (1, less(leaves))
        assert ones_sum(expected.packed) % 0xFFFF == ones_sum(address.packed) % 0xFFFF
        switch.add_neighbour(address)
        back = made.back(expected)
        if back == address:  # 0xFFFF behind the word comes back, in the word nobody has it
            came = bytes(datagram(FAR, str(expected), sport=53, dport=number))
            assert switch.comes_in(number, 1, came) == less(came[:24] + address.packed + came[40:])
        met["changed"] += 1
    assert min(met.values()) > 10, met


def test_a_subnet_of_ones_and_an_identifier_of_zeros_are_refused_with_a_word() -> None:
    switch = BorderSwitch()
    ((port, error),) = switch.at(0, 1, bytes(from_host(bytes(datagram("2001:db8:1:ffff::9", FAR)))))
    assert (port, error[54:56]) == (1, bytes([1, 0])), "destination unreachable"
    switch = BorderSwitch(prefixes={1: IPv6Network("2001:db8:a1:100::/56")}, inside=IPv6Network("fd00:1:2:300::/56"))
    ((port, error),) = switch.at(1, 1, bytes(from_host(bytes(datagram("fd00:1:2:301::", FAR)))))
    assert (port, error[54:56], error[58:62]) == (1, bytes([4, 0]), (8).to_bytes(4)), "parameter problem at the source"


def test_sources_that_cannot_come_from_there_end_here() -> None:
    switch = BorderSwitch()
    for number, source in enumerate((IP_OF[2], out_of(HOST, 1), out_of(HOST, 2)), 1):
        assert switch.comes_in(number, 1, datagram(source, out_of(HOST, 1))) is None
        assert drops(switch, "DROP_BORDER_SOURCE") == number
    assert switch.goes_out(9, datagram("2001:db8:77::1", FAR)) is None
    assert drops(switch, "DROP_BORDER_SOURCE") == 4
    assert switch.goes_out(10, datagram(out_of(HOST, 2), FAR)) == (2, less(datagram(out_of(HOST, 2), FAR)))


def test_probes_of_the_router_itself_come_back() -> None:
    """They bear its own address as source, and no border takes them for forged."""
    switch = BorderSwitch()
    own, mark = ADDRESS[100], 0x1122334455667788
    probe = IPv6(src=own, dst=own, hlim=254) / ICMPv6EchoRequest(data=mark.to_bytes(8))
    switch.add("urpf_sources", "own_source", {"source": f"{own}/128"})
    switch.at(1, 4, bytes(in_by(4, bytes(probe))))
    assert (drops(switch, "DROP_BORDER_SOURCE"), switch.counted("punts", LOCAL)) == (1, 0), "nobody's mark yet"
    switch.add("own_probes", "own_probe", {"vlan": 100, "mark": mark}, {"nexthop": 1})
    switch.at(2, 4, bytes(in_by(4, bytes(probe))))
    assert (drops(switch, "DROP_BORDER_SOURCE"), switch.counted("punts", LOCAL)) == (1, 1)


def test_hosts_inside_reach_each_other_by_the_addresses_that_others_see() -> None:
    switch = BorderSwitch(home=1)
    ((port, frame),) = switch.at(0, 1, bytes(from_host(bytes(datagram(HOST, out_of(IP_OF[2], 2))))))
    assert (port, frame[14:]) == (2, less(datagram(out_of(HOST, 2), IP_OF[2])))


@pytest.mark.parametrize("message", [ICMPv6PacketTooBig(mtu=1400), ICMPv6DestUnreach(code=4)])
def test_errors_tell_a_host_of_its_own_packet(message: Packet) -> None:
    switch = BorderSwitch(home=2)
    router = "2001:db8:f00:9::1"
    outside = out_of(HOST, 2)
    quote, own = (bytes(tcp(each, FAR, "A")) for each in (outside, HOST))
    came = bytes(IPv6(src=router, dst=outside) / message / Raw(quote))
    arrives = bytes(IPv6(src=router, dst=HOST) / message / Raw(own))
    assert switch.comes_in(1, 1, came) == less(arrives), "by whichever provider"


def test_errors_of_the_inside_go_the_way_of_what_they_are_about() -> None:
    switch = BorderSwitch(home=1)
    outside = out_of(HOST, 2)
    for number, (about, seen) in enumerate(
        (
            (tcp(FAR, HOST, "S", 9, 80), tcp(FAR, outside, "S", 9, 80)),
            (datagram(FAR, HOST, 9, 99), datagram(FAR, outside, 9, 99)),
        )
    ):
        assert switch.comes_in(number, 2, seen) is not None
        sent = bytes(IPv6(src=IP_OF[2], dst=FAR) / ICMPv6DestUnreach(code=4) / Raw(bytes(about)))
        leaves = bytes(IPv6(src=out_of(IP_OF[2], 2), dst=FAR) / ICMPv6DestUnreach(code=4) / Raw(bytes(seen)))
        assert switch.goes_out(number, sent) == (2, less(leaves))
