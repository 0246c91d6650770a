"""The border of a site: prefixes of providers for that of the inside (RFC 6296), a provider for each flow."""

from __future__ import annotations

import heapq
import itertools
import random
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import NamedTuple

import pytest
from border_site import FAILED, HELD, INSIDE, WORKS, bucket, bucket_of, out_of
from border_switch import BorderSwitch, less
from carriers import octets, ones_sum
from ilnp_site import HOSTS_SPEAK, ILNP_SPOKEN, LONG, PEERS_LONG, with_nonce
from keyed_hash import address_slot, border_slots
from mapped_packets import all_kinds
from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import ICMPv6DestUnreach, ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6PacketTooBig, IPv6
from scapy.packet import Packet, Raw
from session_site import endpoint_policy, from_host, in_by
from site_switch import value_of, with_sizes

from small_site import ADDRESS, DROP, FAR, IP_OF
from wayname.edge.nptv6.buckets import homes
from wayname.nptv6 import PrefixMapping, UnmappableError

Make = Callable[..., BorderSwitch]
HOST = IP_OF[1]
FLOWS = 131072
FLOW_HELD, FLOW_MOVED, FLOW_BEGAN = 1, 2, 3
LOCAL = 1  # PUNT_LOCAL


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


@pytest.mark.parametrize(("connections", "fewest"), [(30, 5), (8, 1)])
def test_connections_that_begin_together_go_by_both_providers(connections: int, fewest: int) -> None:
    rng = random.Random(connections)
    at_home = homes(((1, 1), (2, 1)))
    for _ in range(30):
        host, peer = (str(any_address(rng, prefix)) for prefix in (INSIDE, IPv6Network("2001:db8:f::/48")))
        # As Linux gives them to its clients: every second one.
        ports = range(rng.randrange(32768, 60000), 1 << 16, 2)[:connections]
        ways = Counter(at_home[bucket_of(host, peer, 6, port, 443)] for port in ports)
        assert min(ways[1], ways[2]) >= fewest, (host, peer, ports)


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


def comes_in_by_2(switch: BorderSwitch, now: float, peer: str, sport: int = 9) -> bool:
    """A connection begins from outside by provider 2, while the bucket's home is 1: is there room for it?"""
    return switch.comes_in(now, 2, tcp(peer, out_of(HOST, 2), "S", sport, 80)) is not None


def established_by_2(switch: BorderSwitch, now: float = 0, sport: int = 9, peer: str = FAR) -> None:
    """It goes on, until both ends have answered."""
    assert comes_in_by_2(switch, now, peer, sport)
    assert goes_on(switch, now, sport, peer)
    assert switch.comes_in(now, 2, tcp(peer, out_of(HOST, 2), "A", sport, 80)) is not None


def goes_on(switch: BorderSwitch, now: float, sport: int = 9, peer: str = FAR) -> bool:
    """The host sends in the connection: does it still go by provider 2?"""
    sent = switch.goes_out(now, tcp(HOST, peer, "A", 80, sport))
    return sent is not None and sent[0] == 2


STRANGER = "2001:db8:f00::bad"


@pytest.mark.parametrize(("lived", "held"), [(0, 4), (3, 4), (100, 100), (1000, 300)])
def test_an_established_connection_holds_its_slot_for_as_long_as_it_has_lived(
    tmp_path: Path, lived: float, held: float
) -> None:
    """Here there is one slot. Four seconds at least, 300 at most; and while nobody wants it, for ever."""
    switch = BorderSwitch(home=1, program=with_sizes(tmp_path, FLOWS=1))
    established_by_2(switch)
    if lived:
        assert goes_on(switch, lived)
    assert not comes_in_by_2(switch, lived + 1, STRANGER)
    assert not comes_in_by_2(switch, lived + held - 0.1, STRANGER)
    assert drops(switch, "DROP_FLOWS_FULL") == 2
    assert comes_in_by_2(switch, lived + held, STRANGER)


def test_nobody_takes_a_slot_that_nobody_wants(make: Make) -> None:
    switch = make(home=1)
    established_by_2(switch)
    assert goes_on(switch, 10_000)


def test_a_half_open_connection_gives_way_at_once_and_an_answered_one_after_seconds(tmp_path: Path) -> None:
    switch = BorderSwitch(home=1, program=with_sizes(tmp_path, FLOWS=1))
    assert comes_in_by_2(switch, 0, STRANGER)
    assert comes_in_by_2(switch, 0, FAR)
    assert goes_on(switch, 0)
    assert not comes_in_by_2(switch, 1, STRANGER)
    assert comes_in_by_2(switch, 5, STRANGER)


@pytest.mark.parametrize(("share", "held"), [(1, 100), (0, 4)])
def test_a_connection_of_a_source_with_more_than_its_share_is_held_for_seconds(
    tmp_path: Path, share: int, held: int
) -> None:
    switch = BorderSwitch(home=1, program=with_sizes(tmp_path, FLOWS=1, FLOWS_OF_SOURCE=share))
    established_by_2(switch)
    assert goes_on(switch, 100)
    assert not comes_in_by_2(switch, 100 + held - 0.1, STRANGER)
    assert comes_in_by_2(switch, 100 + held, STRANGER)


def test_the_slots_of_sources_are_counted_right(tmp_path: Path) -> None:
    """Of hosts inside and of /48s outside, while connections begin, are answered, end and take each other's slots."""
    slots, places = 16, 32
    program = with_sizes(tmp_path, FLOWS=slots, FLOW_SOURCES=places, FLOWS_OF_SOURCE=2)
    switch, rng, now = BorderSwitch(home=1, program=program), random.Random(9), 0.0
    switch.serve(2)
    peers = [f"2001:db8:{0xE00 + site:x}::{number}" for site in range(4) for number in range(1, 4)]
    for step in range(600):
        now += rng.choice((0.1, 1, 3, 20))
        peer, port = rng.choice(peers), rng.randrange(9, 12)
        if step % 7 == 0:
            switch.goes_out(now, tcp(rng.choice((HOST, IP_OF[2])), peer, "S", port, 443))
        elif step % 3:
            switch.goes_out(now, tcp(HOST, peer, "A", 80, port))
        else:
            switch.comes_in(now, rng.choice((1, 2)), tcp(peer, out_of(HOST, 2), rng.choice("SA"), port, 80))
    held = zip(
        switch.register("flow_holders"), switch.register("flow_seen"), switch.register("flow_states"), strict=True
    )
    expected = [0] * places
    for flow, seen, state in held:
        if seen and state >> 8 & 0xF != 1:
            inside = state >> 14 & 1
            source = flow >> 168 if inside else (flow >> 120 & (1 << 48) - 1) << 80
            expected[address_slot(source, places)] += 1
    assert switch.register("flow_sources") == expected and sum(expected) > 4


def test_two_connections_that_share_a_slot_have_one_each(tmp_path: Path) -> None:
    """The second one has its other slot; and when both are held, a third one has none."""
    slots = 64
    first, second = border_slots(value_of(HOST), value_of(FAR), 6, (80, 9), slots)
    program = with_sizes(tmp_path, FLOWS=slots)
    wanted: dict[tuple[int, ...], list[int]] = {}
    for sport in range(10, 65536):
        wanted.setdefault(border_slots(value_of(HOST), value_of(FAR), 6, (80, sport), slots), []).append(sport)
    free = next(slot for slot in range(slots) if slot not in (first, second))
    switch = BorderSwitch(home=1, program=program)
    established_by_2(switch)
    other, third = wanted[first, free][0], wanted[first, free][1]
    established_by_2(switch, 1, other)
    assert goes_on(switch, 2, 9) and goes_on(switch, 2, other)
    assert not comes_in_by_2(switch, 3, FAR, third)


def test_who_computes_crcs_keeps_no_connection_out(make: Make) -> None:
    """The peer's connection has the same CRC as one that a stranger has opened before."""
    switch = make(home=1)
    peer, port = same_crc(9)
    established_by_2(switch, sport=port, peer=peer)
    assert comes_in_by_2(switch, 1, FAR)


def same_crc(port: int) -> tuple[str, int]:
    """Another peer's flow to the host that has the CRC of the far one's, as far as slots go."""

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


def strangers(sites: int) -> Iterator[str]:
    """Addresses outside, in so many /48s by turns."""
    for number in itertools.count(1):
        yield f"2001:db8:{0xF000 + number % sites:x}::{number:x}"


class Flood(NamedTuple):
    """Connections that a site's host accepts: so many a second for the slots that there are, from so many /48s."""

    rate: float
    sites: int
    alive: bool  # with a packet whenever the slot would be given to others; else they say nothing more


# A 512th of a real edge's slots, so a 512th of the rate does the same.
SCALE = 512


@pytest.mark.parametrize(
    ("flood", "refused"),
    [
        pytest.param(Flood(440 / SCALE, 1, False), 0.0, id="440 a second"),
        pytest.param(Flood(440 / SCALE, 1000, False), 0.0, id="440 a second from a thousand sites"),
        pytest.param(Flood(440 / SCALE, 1, True), 0.02, id="440 a second that stay alive"),
        pytest.param(Flood(440 / SCALE, 1000, True), 0.5, id="440 a second that stay alive from a thousand sites"),
    ],
)
def test_a_flood_of_connections_moves_none_that_lives_and_keeps_few_out(
    tmp_path: Path, flood: Flood, refused: float
) -> None:
    """Ten connections live and say something each 20 seconds; each second of the flood somebody's begins."""
    sizes = {"FLOWS": FLOWS // SCALE, "FLOWS_OF_SOURCE": FLOWS // SCALE // 64}
    switch = BorderSwitch(home=1, program=with_sizes(tmp_path, **sizes))
    live = [f"2001:db8:{number:x}::1" for number in range(0xE00, 0xE0A)]
    for number, peer in enumerate(live):
        established_by_2(switch, number, peer=peer)
    begins, ends, newcomers, rejected, moved = 60.0, 460.0, 0, 0, 0
    due = [(20.0, "live", peer, 0.0) for peer in live] + [(begins, "newcomer", "", 0.0)]
    flooding = strangers(flood.sites)
    due += [(begins + number / flood.rate, "flood", next(flooding), 0.0) for number in range(int(400 * flood.rate))]
    heapq.heapify(due)
    while due and due[0][0] < ends:
        now, kind, peer, since = heapq.heappop(due)
        if kind == "live":
            moved += not goes_on(switch, now, peer=peer)
            heapq.heappush(due, (now + 20, kind, peer, since))
        elif kind == "newcomer":
            newcomers += 1
            peer = f"2001:db8:{0xD00 + newcomers:x}::1"
            if comes_in_by_2(switch, now, peer):
                assert goes_on(switch, now, peer=peer)
            else:
                rejected += 1
            heapq.heappush(due, (now + 1, kind, "", 0.0))
        elif kind == "flood":
            if comes_in_by_2(switch, now, peer):
                established_by_2(switch, now, peer=peer)
                if flood.alive:
                    heapq.heappush(due, (now + 3.9, "alive", peer, now))
        elif goes_on(switch, now, peer=peer):
            heapq.heappush(due, (now + max(3.9, 0.95 * (now - since)), kind, peer, since))
    assert (newcomers, moved) == (400, 0) and rejected <= refused * newcomers


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
    assert switch.flow_events() == []


def test_a_connection_whose_provider_failed_waits_and_lives_when_that_is_back(make: Make) -> None:
    switch = make(home=1)
    switch.is_now(1, HELD)
    switch.serve(2)
    for second in (1, 2, 3):
        assert switch.goes_out(second, tcp(HOST, FAR, "A", 7000)) is None
    assert drops(switch, "DROP_FLOW_HELD") == 3
    assert switch.flow_events() == [[FLOW_HELD, 1, 0, 1, value_of(HOST), value_of(FAR), 6, 7000, 80, 0, 0]], "told once"
    begun = switch.goes_out(4, tcp(HOST, FAR, "S", 7001))
    switch.is_now(1, WORKS)
    switch.serve(1)
    assert switch.goes_out(5, tcp(HOST, FAR, "A", 7000)) == (1, less(tcp(out_of(HOST, 1), FAR, "A", 7000)))
    assert begun and begun[0] == 2
    stays = switch.goes_out(5, tcp(HOST, FAR, "A", 7001))
    assert stays and stays[0] == 2, "it has begun by the other"
    assert switch.flow_events() == []


def test_a_connection_whose_provider_stays_away_is_lost(make: Make) -> None:
    switch = make(home=1)
    switch.is_now(1, FAILED)
    switch.serve(2)
    for second in (1, 2):
        assert switch.goes_out(second, tcp(HOST, FAR, "A", 7000)) == (2, less(tcp(out_of(HOST, 2), FAR, "A", 7000)))
    assert switch.flow_events() == [[FLOW_MOVED, 1, 2, 1, value_of(HOST), value_of(FAR), 6, 7000, 80, 0, 0]], (
        "told once"
    )
    reset = tcp(FAR, out_of(HOST, 2), "R", 80, 7000)
    assert switch.comes_in(3, 2, reset) == less(tcp(FAR, HOST, "R", 80, 7000)), "its peer ends it"


def test_what_has_no_connections_moves_at_once(make: Make) -> None:
    switch = make(home=1)
    outside = out_of(HOST, 2)
    assert switch.comes_in(0, 2, datagram(FAR, outside, 9, 53)) is not None
    switch.is_now(2, HELD)
    assert switch.goes_out(1, datagram(HOST, FAR, 53, 9)) == (1, less(datagram(out_of(HOST, 1), FAR, 53, 9)))
    assert switch.flow_events() == [[FLOW_MOVED, 2, 1, 1, value_of(HOST), value_of(FAR), 17, 53, 9, 0, 0]]


def test_what_begins_with_a_host_s_own_session_goes_by_one_provider(make: Make) -> None:
    """Else a peer whose edge speaks for it would know the host by one address, and have a connection to another."""
    switch = make(home=1, more=endpoint_policy(prefix=f"{HOST}/128", protocols=ILNP_SPOKEN | HOSTS_SPEAK))
    switch.modify(bucket(bucket_of(HOST, FAR, 17), 2, 2))
    for port in range(5000, 5064):
        assert bucket_of(HOST, FAR, 6, port, 80) != bucket_of(HOST, FAR, 17)
        sent = with_nonce(bytes(tcp(HOST, FAR, "S", port)), LONG)
        assert switch.goes_out(0, sent) == (2, less(sent[:8] + octets(out_of(HOST, 2)) + sent[24:]))
    assert switch.goes_out(1, datagram(HOST, FAR)) == (2, less(datagram(out_of(HOST, 2), FAR))), "before the session"
    without = tcp(HOST, FAR, "S", 6000)
    assert switch.goes_out(1, without) == (1, less(tcp(out_of(HOST, 1), FAR, "S", 6000)))


def test_a_session_of_the_host_s_own_moves_at_once_and_its_nonce_is_told(make: Make) -> None:
    """Its identifier is the same, and so are checksums over identifiers; the peer has to know the locator."""
    switch = make(home=1, more=endpoint_policy(prefix=f"{HOST}/128", protocols=ILNP_SPOKEN | HOSTS_SPEAK))

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
    assert switch.flow_events() == [], "a peer that answers once may be forged"
    leaves(1, "A", 1)
    assert switch.flow_events() == ends(FLOW_BEGAN, 1, 1)
    leaves(2, "A", 1)
    switch.is_now(1, HELD)
    switch.serve(2)
    leaves(3, "A", 2)
    leaves(4, "A", 2)
    assert switch.flow_events() == ends(FLOW_MOVED, 1, 2), "told once"


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


def test_probes_of_the_router_itself_come_back(make: Make) -> None:
    """They bear its own address as source, and no border takes them for forged."""
    switch = make()
    own, mark = ADDRESS[100], 0x1122334455667788
    probe = IPv6(src=own, dst=own, hlim=254) / ICMPv6EchoRequest(data=mark.to_bytes(8))
    switch.add("urpf_sources", "own_source", {"source": f"{own}/128"})
    switch.at(1, 4, bytes(in_by(4, bytes(probe))))
    assert (drops(switch, "DROP_BORDER_SOURCE"), switch.counted("punts", LOCAL)) == (1, 0), "nobody's mark yet"
    switch.add("own_probes", "own_probe", {"vlan": 100, "mark": mark}, {"nexthop": 1})
    switch.at(2, 4, bytes(in_by(4, bytes(probe))))
    assert (drops(switch, "DROP_BORDER_SOURCE"), switch.counted("punts", LOCAL)) == (1, 1)


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
