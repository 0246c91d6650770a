"""The border of a site: prefixes of providers for that of the inside (RFC 6296), a provider for each flow."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network

import pytest
from border_site import FAILED, HELD, WORKS, bucket, bucket_of, out_of
from border_switch import BorderSwitch, less
from carriers import octets, ones_sum
from ilnp_site import HOSTS_SPEAK, ILNP_SPOKEN, LONG, PEERS_LONG, with_nonce
from mapped_packets import all_kinds
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import ICMPv6DestUnreach, ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6PacketTooBig, IPv6
from scapy.packet import Packet, Raw
from session_site import from_host, proxied
from site_switch import value_of

from small_site import DROP, FAR, IP_OF
from wayname.ilnp.prefixes import PrefixMapping, UnmappableError

Make = Callable[..., BorderSwitch]
HOST = IP_OF[1]
FLOWS = 131072
HELD_NEWS, MOVED_NEWS, BEGAN_NEWS = 1, 2, 3


@pytest.fixture
def make() -> Make:
    return BorderSwitch


def tcp(source: str, destination: str, flags: str, sport: int = 5000, dport: int = 80) -> Packet:
    return IPv6(src=source, dst=destination) / TCP(sport=sport, dport=dport, flags=flags)


def datagram(source: str, destination: str, sport: int = 5000, dport: int = 53) -> Packet:
    return IPv6(src=source, dst=destination) / UDP(sport=sport, dport=dport) / Raw(b"data")


def drops(switch: BorderSwitch, reason: str) -> int:
    return switch.counted("ingress_drops", DROP[reason])


@pytest.mark.parametrize("provider", [1, 2])
def test_all_kinds_of_packets_are_another_address_s_and_checksums_stay(make: Make, provider: int) -> None:
    switch = make(home=provider)
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
def test_addresses_change_as_the_arithmetic_of_the_rfc_has_it(make: Make, inside: str, outside: str) -> None:
    made = PrefixMapping(IPv6Network(inside), IPv6Network(outside))
    switch = make(prefixes={1: made.outside}, inside=made.inside)
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


def any_address(rng: random.Random, prefix: IPv6Network) -> IPv6Address:
    """An address of a prefix; its words are often at the ends of what they can be."""
    value = int(prefix.network_address)
    for shift in range(0, 128, 16):
        word = rng.choice((0, 0, 0xFFFF, 0xFFFF, 0xFFFE, 1, rng.getrandbits(16)))
        value |= word << shift & int(prefix.hostmask)
    if rng.random() < 0.2:
        value &= ~((1 << 64) - 1)
    return IPv6Address(value)


def test_a_subnet_of_ones_and_an_identifier_of_zeros_are_refused_with_a_word(make: Make) -> None:
    switch = make()
    ((port, error),) = switch.at(0, 1, bytes(from_host(bytes(datagram("2001:db8:1:ffff::9", FAR)))))
    assert (port, error[54:56]) == (1, bytes([1, 0])), "destination unreachable"
    switch = make(prefixes={1: IPv6Network("2001:db8:a1:100::/56")}, inside=IPv6Network("fd00:1:2:300::/56"))
    ((port, error),) = switch.at(1, 1, bytes(from_host(bytes(datagram("fd00:1:2:301::", FAR)))))
    assert (port, error[54:56], error[58:62]) == (1, bytes([4, 0]), (8).to_bytes(4)), "parameter problem at the source"


def test_a_continuing_connection_needs_no_memory_while_its_bucket_is_at_home(make: Make) -> None:
    switch = make(home=2)
    outside = out_of(HOST, 2)
    assert switch.goes_out(0, tcp(HOST, FAR, "A")) == (2, less(tcp(outside, FAR, "A")))
    assert switch.comes_in(1, 2, tcp(FAR, outside, "A", 80, 5000)) == less(tcp(FAR, HOST, "A", 80, 5000))


def test_flows_go_by_their_buckets(make: Make) -> None:
    switch = make(home=1)
    for port in range(5000, 5064):
        number = bucket_of(HOST, FAR, 6, port, 80)
        switch.modify(bucket(number, 2, 2))
        assert switch.goes_out(0, tcp(HOST, FAR, "S", port)) == (2, less(tcp(out_of(HOST, 2), FAR, "S", port)))
        switch.modify(bucket(number, 1, 1))
        assert switch.goes_out(0, tcp(HOST, FAR, "S", port)) == (1, less(tcp(out_of(HOST, 1), FAR, "S", port)))
    number = bucket_of(HOST, FAR, 17)
    switch.modify(bucket(number, 2, 2))
    for port in (1, 2, 3):
        sent = switch.goes_out(0, datagram(HOST, FAR, port))
        assert sent and sent[0] == 2, "datagrams may come in parts, and parts have no ports"


def test_what_came_in_by_the_other_provider_is_answered_by_it(make: Make) -> None:
    switch = make(home=1)
    outside = out_of(HOST, 2)
    for number, (came, answer) in enumerate(
        (
            (tcp(FAR, outside, "S", 9, 80), tcp(HOST, FAR, "SA", 80, 9)),
            (datagram(FAR, outside, 9, 53), datagram(HOST, FAR, 53, 9)),
            (
                IPv6(src=FAR, dst=outside) / ICMPv6EchoRequest(id=77, seq=1),
                IPv6(src=HOST, dst=FAR) / ICMPv6EchoReply(id=77, seq=1),
            ),
        )
    ):
        assert switch.comes_in(number, 2, came) is not None
        sent = bytes(answer)
        assert switch.goes_out(number, sent) == (2, less(sent[:8] + octets(outside) + sent[24:]))
    other = switch.goes_out(9, tcp(HOST, FAR, "S", 81, 9))
    assert other and other[0] == 1, "what the host begins itself goes by its own bucket"


def established_by_2(switch: BorderSwitch, now: float = 0, sport: int = 9) -> None:
    """A connection from outside by provider 2, while the bucket's home is 1."""
    outside = out_of(HOST, 2)
    assert switch.comes_in(now, 2, tcp(FAR, outside, "S", sport, 80)) is not None
    assert switch.goes_out(now, tcp(HOST, FAR, "SA", 80, sport)) is not None
    assert switch.comes_in(now, 2, tcp(FAR, outside, "A", sport, 80)) is not None


def test_a_connection_that_is_kept_gives_its_slot_to_nobody(make: Make) -> None:
    switch = make(home=1)
    established_by_2(switch)
    outside = out_of(HOST, 2)
    peer, port = same_slot(9)
    assert switch.comes_in(1, 2, tcp(peer, outside, "S", port, 80)) is None
    assert drops(switch, "DROP_FLOWS_FULL") == 1
    sent = switch.goes_out(299, tcp(HOST, FAR, "A", 80, 9))
    assert sent and sent[0] == 2
    assert switch.comes_in(600, 2, tcp(peer, outside, "S", port, 80)) is not None, "it has been quiet for too long"


def test_a_half_open_connection_gives_way_at_once_and_an_answered_one_after_seconds(make: Make) -> None:
    switch = make(home=1)
    outside = out_of(HOST, 2)
    peer, port = same_slot(9)
    assert switch.comes_in(0, 2, tcp(peer, outside, "S", port, 80)) is not None
    assert switch.comes_in(0, 2, tcp(FAR, outside, "S", 9, 80)) is not None
    answer = switch.goes_out(0, tcp(HOST, FAR, "SA", 80, 9))
    assert answer and answer[0] == 2
    assert switch.comes_in(1, 2, tcp(peer, outside, "S", port, 80)) is None
    assert switch.comes_in(5, 2, tcp(peer, outside, "S", port, 80)) is not None


def same_slot(port: int) -> tuple[str, int]:
    """Another peer's flow to the host that has the slot of the far one's."""

    def slot(peer: str, its_port: int) -> int:
        ports = (80).to_bytes(2) + its_port.to_bytes(2)
        return zlib.crc32(octets(HOST) + octets(peer) + b"\x06" + ports) % FLOWS

    wanted = slot(FAR, port)
    return next(
        (peer, other)
        for number in range(2, 40)
        for peer in (f"2001:db8:f00::{number:x}",)
        for other in range(1, 65536)
        if slot(peer, other) == wanted
    )


def test_when_a_provider_fails_new_flows_move_and_those_of_the_other_stay(make: Make) -> None:
    switch = make(home=1)
    established_by_2(switch)
    switch.goes_out(1, tcp(HOST, FAR, "S", 7000))
    switch.is_now(1, HELD)
    switch.serve(2)
    assert switch.goes_out(2, tcp(HOST, FAR, "S", 7001)) == (2, less(tcp(out_of(HOST, 2), FAR, "S", 7001)))
    assert switch.goes_out(2, tcp(HOST, FAR, "A", 7001)) == (2, less(tcp(out_of(HOST, 2), FAR, "A", 7001)))
    stays = switch.goes_out(2, tcp(HOST, FAR, "A", 80, 9))
    assert stays and stays[0] == 2
    assert switch.news() == []


def test_a_connection_whose_provider_failed_waits_and_lives_when_that_is_back(make: Make) -> None:
    switch = make(home=1)
    switch.is_now(1, HELD)
    switch.serve(2)
    for second in (1, 2, 3):
        assert switch.goes_out(second, tcp(HOST, FAR, "A", 7000)) is None
    assert drops(switch, "DROP_FLOW_HELD") == 3
    assert switch.news() == [[HELD_NEWS, 1, 0, 1, value_of(HOST), value_of(FAR), 6, 7000, 80, 0, 0]], "told once"
    begun = switch.goes_out(4, tcp(HOST, FAR, "S", 7001))
    switch.is_now(1, WORKS)
    switch.serve(1)
    assert switch.goes_out(5, tcp(HOST, FAR, "A", 7000)) == (1, less(tcp(out_of(HOST, 1), FAR, "A", 7000)))
    assert begun and begun[0] == 2
    stays = switch.goes_out(5, tcp(HOST, FAR, "A", 7001))
    assert stays and stays[0] == 2, "it has begun by the other"
    assert switch.news() == []


def test_a_connection_whose_provider_stays_away_is_lost(make: Make) -> None:
    switch = make(home=1)
    switch.is_now(1, FAILED)
    switch.serve(2)
    for second in (1, 2):
        assert switch.goes_out(second, tcp(HOST, FAR, "A", 7000)) == (2, less(tcp(out_of(HOST, 2), FAR, "A", 7000)))
    assert switch.news() == [[MOVED_NEWS, 1, 2, 1, value_of(HOST), value_of(FAR), 6, 7000, 80, 0, 0]], "told once"
    reset = tcp(FAR, out_of(HOST, 2), "R", 80, 7000)
    assert switch.comes_in(3, 2, reset) == less(tcp(FAR, HOST, "R", 80, 7000)), "its peer ends it"


def test_what_has_no_connections_moves_at_once(make: Make) -> None:
    switch = make(home=1)
    outside = out_of(HOST, 2)
    assert switch.comes_in(0, 2, datagram(FAR, outside, 9, 53)) is not None
    switch.is_now(2, HELD)
    assert switch.goes_out(1, datagram(HOST, FAR, 53, 9)) == (1, less(datagram(out_of(HOST, 1), FAR, 53, 9)))
    assert switch.news() == [[MOVED_NEWS, 2, 1, 1, value_of(HOST), value_of(FAR), 17, 53, 9, 0, 0]]


def test_a_session_of_the_host_s_own_moves_at_once_and_its_nonce_is_told(make: Make) -> None:
    """Its identifier is the same, and so are checksums over identifiers; the peer has to know the locator."""
    switch = make(home=1, more=proxied(prefix=f"{HOST}/128", protocols=ILNP_SPOKEN | HOSTS_SPEAK))

    def bears(packet: Packet, nonce: bytes) -> bytes:
        return with_nonce(bytes(packet), nonce)

    def ends(kind: int, before: int, after: int) -> list[list[int]]:
        flow = [value_of(HOST), value_of(FAR), 6, 7000, 80]
        return [[kind, before, after, 1, *flow, len(LONG), int.from_bytes(LONG)]]

    def leaves(second: int, flags: str, by: int) -> None:
        sent, outside = bears(tcp(HOST, FAR, flags, 7000), LONG), bears(tcp(HOST, FAR, flags, 7000), LONG)
        outside = outside[:8] + octets(out_of(HOST, by)) + outside[24:]
        assert switch.goes_out(second, sent) == (by, less(outside))

    leaves(1, "S", 1)
    answer = bears(tcp(FAR, out_of(HOST, 1), "SA", 80, 7000), PEERS_LONG)
    assert switch.comes_in(1, 1, answer) == less(answer[:24] + octets(HOST) + answer[40:])
    assert switch.news() == [], "a peer that answers once may be forged"
    leaves(1, "A", 1)
    assert switch.news() == ends(BEGAN_NEWS, 1, 1)
    leaves(2, "A", 1)
    switch.is_now(1, HELD)
    switch.serve(2)
    leaves(3, "A", 2)
    leaves(4, "A", 2)
    assert switch.news() == ends(MOVED_NEWS, 1, 2), "told once"


def test_without_any_provider_the_sender_is_told(make: Make) -> None:
    switch = make(home=1)
    switch.serve(0)
    switch.is_now(1, FAILED)
    ((port, error),) = switch.at(1, 1, bytes(from_host(bytes(tcp(HOST, FAR, "S")))))
    assert (port, error[54:56]) == (1, bytes([1, 0]))
    assert drops(switch, "DROP_NO_PROVIDER") == 1


def test_sources_that_cannot_come_from_there_end_here(make: Make) -> None:
    switch = make()
    for number, source in enumerate((IP_OF[2], out_of(HOST, 1), out_of(HOST, 2)), 1):
        assert switch.comes_in(number, 1, datagram(source, out_of(HOST, 1))) is None
        assert drops(switch, "DROP_BORDER_SOURCE") == number
    assert switch.goes_out(9, datagram("2001:db8:77::1", FAR)) is None
    assert drops(switch, "DROP_BORDER_SOURCE") == 4
    assert switch.goes_out(10, datagram(out_of(HOST, 2), FAR)) == (2, less(datagram(out_of(HOST, 2), FAR)))


def test_hosts_inside_reach_each_other_by_the_addresses_that_others_see(make: Make) -> None:
    switch = make(home=1)
    ((port, frame),) = switch.at(0, 1, bytes(from_host(bytes(datagram(HOST, out_of(IP_OF[2], 2))))))
    assert (port, frame[14:]) == (2, less(datagram(out_of(HOST, 2), IP_OF[2])))


@pytest.mark.parametrize("message", [ICMPv6PacketTooBig(mtu=1400), ICMPv6DestUnreach(code=4)])
def test_errors_tell_a_host_of_its_own_packet(make: Make, message: Packet) -> None:
    switch = make(home=2)
    router = "2001:db8:f00:9::1"
    outside = out_of(HOST, 2)
    quote, own = (bytes(tcp(each, FAR, "A")) for each in (outside, HOST))
    came = bytes(IPv6(src=router, dst=outside) / message / Raw(quote))
    arrives = bytes(IPv6(src=router, dst=HOST) / message / Raw(own))
    assert switch.comes_in(1, 1, came) == less(arrives), "by whichever provider"


def test_errors_of_the_inside_go_the_way_of_what_they_are_about(make: Make) -> None:
    switch = make(home=1)
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


def test_a_policy_takes_flows_to_its_own_provider(make: Make) -> None:
    policy = [bucket(number, 2, 2, policy=100) for number in range(256)]
    switch = make(home=1, more=policy)
    switch.add_policy(100, next_header=6, remote_ports=(443, 443))
    switch.add_policy(100, local="2001:db8:1::12/128")
    for packet, provider in (
        (tcp(HOST, FAR, "S", dport=443), 2),
        (tcp(HOST, FAR, "S", dport=80), 1),
        (datagram(HOST, FAR, dport=443), 1),
        (datagram(IP_OF[2], FAR), 2),
    ):
        out = switch.goes_out(0, packet)
        assert out and out[0] == provider
