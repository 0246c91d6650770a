"""Simple security at a site's border (RFC 6092): what comes in, what does not, and what a flood can push out."""

from __future__ import annotations

import random
from ipaddress import IPv6Address
from pathlib import Path

import pytest
from border_site import PORT_OF, out_of
from border_switch import less
from filter_model import ECHO_REPLY, ECHO_REQUEST, ESP, HIP, ICMPV6, SCTP, TCP, UDP, UDP_LITE, FilterModel, Sent
from filter_switch import HOST, FilterSwitch, packet_of
from scapy.layers.inet import UDP as UdpHeader
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    ICMPv6PacketTooBig,
    ICMPv6TimeExceeded,
    IPv6,
    IPv6ExtHdrFragment,
    IPv6ExtHdrRouting,
)
from scapy.packet import Raw
from session_site import in_by
from site_switch import with_sizes

from small_site import FAR

STRANGER = "2001:db8:bad::1"
GRE, AUTHENTICATION = 47, 51


def out(protocol: int, local: int = 5000, remote: int = 80, flags: str = "", to: str = FAR, kind: int = 0) -> Sent:
    return Sent(True, protocol, to, local, remote, flags, kind)


def into(protocol: int, local: int = 5000, remote: int = 80, flags: str = "", of: str = FAR, kind: int = 0) -> Sent:
    return Sent(False, protocol, of, local, remote, flags, kind)


def established(switch: FilterSwitch, at: float = 0, port: int = 5000) -> None:
    assert switch.crosses(at, out(TCP, port, flags="S"))
    assert switch.crosses(at, into(TCP, port, flags="SA"))
    assert switch.crosses(at, out(TCP, port, flags="A"))


def test_without_it_all_comes_in() -> None:
    switch = FilterSwitch(enabled=False)
    assert switch.crosses(0, into(TCP, 22, 4000, "S", STRANGER))
    assert switch.crosses(0, into(UDP, 22, 4000, of=STRANGER))


@pytest.mark.parametrize("protocol", [UDP, UDP_LITE, SCTP, GRE])
def test_only_what_answers_comes_in(protocol: int) -> None:
    switch = FilterSwitch()
    assert not switch.crosses(0, into(protocol))
    assert switch.crosses(1, out(protocol))
    assert switch.crosses(2, into(protocol))
    assert not switch.crosses(3, into(ICMPV6 if protocol == GRE else GRE, kind=ECHO_REPLY))


def test_udp_and_udp_lite_have_records_of_their_own() -> None:
    switch = FilterSwitch()
    assert switch.crosses(0, out(UDP))
    assert not switch.crosses(1, into(UDP_LITE))


@pytest.mark.parametrize("address_dependent", [False, True])
def test_whether_others_may_send_to_an_endpoint_is_configured(address_dependent: bool) -> None:
    switch = FilterSwitch(address_dependent)
    for at, (protocol, flags) in enumerate(((UDP, ""), (TCP, "S"), (GRE, ""))):
        assert switch.crosses(at, out(protocol, flags=flags))
        assert switch.crosses(at, into(protocol, remote=99, flags=flags, of=STRANGER)) is not address_dependent
        assert protocol == GRE or not switch.crosses(at, into(protocol, 5001, 99, flags, STRANGER))
    # Another port of the same address may answer UDP in either mode (address, not address and port).
    assert switch.crosses(3, into(UDP, remote=81))


def test_what_comes_from_outside_does_not_keep_an_endpoint_open() -> None:
    switch = FilterSwitch()
    assert switch.crosses(0, out(UDP))
    assert switch.crosses(299, into(UDP))
    assert not switch.crosses(301, into(UDP)), "REC-16: the inside refreshes"
    assert switch.crosses(302, out(UDP))
    assert switch.crosses(601, into(UDP))


def test_queries_of_names_are_forgotten_early() -> None:
    switch = FilterSwitch()
    assert switch.crosses(0, out(UDP, remote=53))
    assert switch.crosses(29, into(UDP, remote=53))
    assert not switch.crosses(31, into(UDP, remote=53))


def test_connections_live_for_two_hours_and_four_minutes() -> None:
    switch = FilterSwitch(address_dependent=True)
    established(switch)
    assert switch.crosses(7439, into(TCP, flags="A"))
    assert switch.crosses(2 * 7439, into(TCP, flags="A"))
    assert not switch.crosses(3 * 7440, into(TCP, flags="A"))


@pytest.mark.parametrize("flags", ["FA", "R"])
@pytest.mark.parametrize("from_inside", [True, False])
def test_connections_that_open_or_close_live_for_four_minutes(flags: str, from_inside: bool) -> None:
    switch = FilterSwitch(address_dependent=True)
    assert switch.crosses(0, out(TCP, flags="S"))
    assert not switch.crosses(241, into(TCP, flags="SA"))
    established(switch, 300)
    assert switch.crosses(301, (out if from_inside else into)(TCP, flags=flags))
    assert switch.crosses(540, into(TCP, flags="A"))
    assert not switch.crosses(781, into(TCP, flags="A"))


def test_a_simultaneous_open_stands() -> None:
    switch = FilterSwitch(address_dependent=True)
    assert not switch.crosses(0, into(TCP, flags="S")), "the inside has not sent yet"
    assert switch.crosses(0.5, out(TCP, flags="S"))
    assert switch.crosses(1, into(TCP, flags="S")), "the peer's second SYN"
    assert switch.crosses(1.1, out(TCP, flags="SA"))
    assert switch.crosses(1.2, into(TCP, flags="SA"))
    assert switch.crosses(1.3, out(TCP, flags="A"))
    assert switch.crosses(7000, into(TCP, flags="A"))


def test_a_connection_goes_on_after_the_switch_began_anew() -> None:
    switch = FilterSwitch(address_dependent=True)
    assert not switch.crosses(0, into(TCP, flags="A"))
    assert switch.crosses(1, out(TCP, flags="A"))
    assert switch.crosses(2, into(TCP, flags="A"))
    assert switch.crosses(3, out(TCP, flags="A"))
    assert switch.crosses(7000, into(TCP, flags="A"))


def test_answers_make_no_record() -> None:
    switch = FilterSwitch(address_dependent=True)
    for flags in ("SA", "R", "RA"):
        assert switch.crosses(0, out(TCP, flags=flags))
    assert not switch.crosses(1, into(TCP, flags="A"))
    assert switch.crosses(1, out(ICMPV6, 7, kind=ECHO_REPLY))
    assert not switch.crosses(2, into(ICMPV6, 7, kind=ECHO_REPLY))


def test_who_connects_from_outside_is_told_after_six_seconds() -> None:
    switch = FilterSwitch()
    syn = bytes(in_by(PORT_OF[1], bytes(packet_of(into(TCP, 22, 4000, "S", STRANGER)))))
    assert [switch.at(time, PORT_OF[1], syn) for time in (0, 1, 3, 5.9)] == [[], [], [], []]
    ((port, error),) = switch.at(7, PORT_OF[1], syn)
    assert port == PORT_OF[1]
    assert error[54:56] == bytes([1, 1]), "administratively prohibited"
    assert switch.dropped("DROP_UNSOLICITED_OPEN") == 5
    assert switch.at(300, PORT_OF[1], syn) == [], "it begins anew"


@pytest.mark.parametrize("kind", [ICMPv6PacketTooBig, ICMPv6TimeExceeded])
@pytest.mark.parametrize("protocol", [TCP, UDP, SCTP, ICMPV6, GRE])
def test_errors_come_in_if_their_flow_is_known(protocol: int, kind: type) -> None:
    switch = FilterSwitch(address_dependent=True)
    sent = out(protocol, flags="S" if protocol == TCP else "", kind=ECHO_REQUEST)
    quoted = packet_of(sent)
    quoted.src = out_of(HOST, 1)
    error = IPv6(src="2001:db8:f00:9::1", dst=out_of(HOST, 1)) / kind() / Raw(bytes(quoted))
    assert switch.comes_in(0, 1, error) is None
    assert switch.dropped("DROP_UNSOLICITED_ERROR") == 1
    assert switch.crosses(1, sent)
    assert switch.comes_in(2, 1, error) is not None
    answer = into(protocol, flags="SA" if protocol == TCP else "", kind=ECHO_REPLY)
    assert switch.crosses(3, answer), "an error ends nothing"


def test_errors_do_not_keep_a_record() -> None:
    switch = FilterSwitch(address_dependent=True)
    sent = out(UDP)
    assert switch.crosses(0, sent)
    assert switch.crosses(299, Sent(False, ICMPV6, FAR, about=sent))
    assert not switch.crosses(301, Sent(False, ICMPV6, FAR, about=sent))


def test_ping_goes_out_and_is_answered_by_who_was_asked() -> None:
    switch = FilterSwitch()
    assert not switch.crosses(0, into(ICMPV6, 7, kind=ECHO_REQUEST))
    assert switch.dropped("DROP_UNSOLICITED_ECHO") == 1
    assert switch.crosses(1, out(ICMPV6, 7, kind=ECHO_REQUEST))
    assert switch.crosses(2, into(ICMPV6, 7, kind=ECHO_REPLY))
    assert not switch.crosses(2, into(ICMPV6, 8, kind=ECHO_REPLY))
    assert not switch.crosses(2, into(ICMPV6, 7, kind=ECHO_REPLY, of=STRANGER))
    assert not switch.crosses(62, into(ICMPV6, 7, kind=ECHO_REPLY))


def test_ipsec_hip_and_ike_come_in_unasked() -> None:
    switch = FilterSwitch()
    assert switch.crosses(0, into(ESP))
    assert switch.crosses(0, into(HIP))
    assert switch.crosses(0, into(UDP, 500, 500))
    assert not switch.crosses(0, into(UDP, 501, 500))
    outside = out_of(HOST, 1)
    # RFC 4302: 24 octets, so its length is 24 / 4 - 2.
    authenticated = Raw(bytes([UDP, 4]) + bytes(22)) / UdpHeader(sport=80, dport=5000)
    assert switch.comes_in(0, 1, IPv6(src=FAR, dst=outside, nh=AUTHENTICATION) / authenticated) is not None
    assert switch.crosses(1, Sent(False, ICMPV6, FAR, about=out(ESP)))


def test_pinholes_let_in_what_they_cover_and_make_no_record(tmp_path: Path) -> None:
    switch = FilterSwitch(address_dependent=True, program=with_sizes(tmp_path, FILTER_RECORDS=1024))
    switch.open_pinhole(f"{HOST}/128", TCP, (443, 443))
    assert switch.crosses(0, into(TCP, 443, 4000, "S", STRANGER))
    assert not switch.crosses(0, into(TCP, 444, 4000, "S", STRANGER))
    assert not switch.crosses(0, into(UDP, 443, 4000, of=STRANGER))
    assert switch.crosses(1, out(TCP, 443, 4000, "SA", STRANGER))
    assert switch.crosses(1, into(TCP, 443, 4000, "A", STRANGER))
    assert switch.crosses(1, out(TCP, 443, 4000, "A", STRANGER))
    assert records(switch) == 0
    assert switch.crosses(2, Sent(False, ICMPV6, FAR, about=out(TCP, 443, 4000, "A", STRANGER)))
    switch.open_pinhole(f"{HOST}/128", ICMPV6)
    assert switch.crosses(3, into(ICMPV6, 7, kind=ECHO_REQUEST, of=STRANGER))


def test_parts_come_in_behind_a_first_one_that_did() -> None:
    switch = FilterSwitch()
    outside = out_of(HOST, 1)

    def part(offset: int, number: int, sport: int = 53) -> IPv6:
        begin = IPv6(src=FAR, dst=outside) / IPv6ExtHdrFragment(nh=UDP, offset=offset, m=int(not offset), id=number)
        return begin / (Raw(bytes(64)) if offset else UdpHeader(sport=sport, dport=5000, len=136) / Raw(bytes(64)))

    assert switch.comes_in(0, 1, part(0, 7)) is None
    assert switch.comes_in(0, 1, part(9, 7)) is None
    assert switch.dropped("DROP_UNSOLICITED_FRAGMENT") == 1
    assert switch.crosses(1, out(UDP, remote=53))
    assert switch.comes_in(2, 1, part(0, 8)) is not None
    assert switch.comes_in(3, 1, part(9, 8)) is not None
    assert switch.comes_in(3, 1, part(9, 9)) is None
    assert switch.comes_in(63, 1, part(9, 8)) is None


def test_a_routing_header_of_type_0_crosses_in_neither_direction() -> None:
    switch = FilterSwitch()
    header = IPv6ExtHdrRouting(type=0, addresses=[FAR], segleft=0)
    assert switch.goes_out(0, IPv6(src=HOST, dst=FAR) / header / UdpHeader(sport=5000, dport=80)) is None
    assert switch.comes_in(0, 1, IPv6(src=FAR, dst=out_of(HOST, 1)) / header / UdpHeader(dport=5000)) is None
    assert switch.dropped("DROP_ROUTING_HEADER_0") == 2


def test_the_inside_s_own_prefix_is_no_way_round() -> None:
    switch = FilterSwitch()
    echo = IPv6(src=STRANGER, dst=HOST) / ICMPv6EchoRequest()
    assert switch.comes_in(0, 1, echo) is None
    assert switch.dropped("DROP_UNSOLICITED_ECHO") == 1


def records(switch: FilterSwitch) -> int:
    """How many records there are."""
    return sum(value != 0 for value in switch.register("filter_records"))


def test_a_flood_from_outside_makes_no_record(tmp_path: Path) -> None:
    switch = FilterSwitch(program=with_sizes(tmp_path, FILTER_RECORDS=1024))
    established(switch)
    before = records(switch)
    rng = random.Random(1)
    for _ in range(3000):
        of = str(IPv6Address(int(IPv6Address("2001:db8:bad::")) + rng.getrandbits(64)))
        kind = rng.choice([into(TCP, rng.getrandbits(16), 1, "S", of), into(UDP, rng.getrandbits(16), 1, of=of)])
        switch.crosses(1, kind)
    assert records(switch) == before
    assert switch.crosses(2, into(TCP, flags="A"))


def test_a_flood_from_inside_leaves_others_their_records(tmp_path: Path) -> None:
    sizes = {"FILTER_RECORDS": 1024, "RECORDS_OF_SOURCE": 16}
    switch = FilterSwitch(program=with_sizes(tmp_path, **sizes))
    switch.add_neighbour(IPv6Address(HOST) + 4096)
    ports = range(6000, 6006)
    for port in ports:
        established(switch, 0, port)
    flooder = str(IPv6Address(HOST) + 4096)
    refused = 0
    for number in range(6000):
        packet = packet_of(out(UDP, number, 9))
        packet.src = flooder
        refused += switch.goes_out(1 + number / 1000, packet) is None
    assert refused == switch.dropped("DROP_RECORDS_FULL") > 0
    for port in ports:
        assert switch.crosses(10, into(TCP, port, flags="A")), "no live connection lost its record"
    late = sum(switch.crosses(12, out(TCP, port, flags="S")) for port in range(7000, 7020))
    assert late == 20, "the flooder's records are anybody's after four seconds"


@pytest.mark.parametrize("backend", ["jit", "interpreter"])
@pytest.mark.parametrize("address_dependent", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_it_does_what_the_model_does(backend: str, address_dependent: bool, seed: int) -> None:
    rng = random.Random(f"{seed} {address_dependent}")
    switch, model = FilterSwitch(address_dependent, backend), FilterModel(address_dependent)
    now, last_out, met = 1.0, None, {True: 0, False: 0}  # seconds; no sum of steps is a lifetime
    for _ in range(1500 if backend == "jit" else 200):
        now += rng.choice([0.0137] * 12 + [2.1, 29.3, 31.7, 61.1, 200.9, 241.3, 301.7, 7441.1])
        sent = any_packet(rng, last_out)
        if sent.outbound:
            last_out = sent
        expected = model.passes(now + 1, sent)
        assert switch.crosses(now, sent) is expected, (now, sent)
        met[expected and not sent.outbound] += 1
    assert min(met.values()) > 20, met


def any_packet(rng: random.Random, last_out: Sent | None) -> Sent:
    outbound = rng.random() < 0.4
    if not outbound and last_out is not None and rng.random() < 0.1:
        return Sent(False, ICMPV6, FAR, about=last_out)
    protocol = rng.choice([TCP, TCP, TCP, UDP, UDP, UDP_LITE, SCTP, ICMPV6, GRE, ESP, HIP])
    remote = rng.choice([FAR, STRANGER])
    if protocol == ICMPV6:
        return Sent(outbound, protocol, remote, rng.choice([1, 2]), 0, "", rng.choice([ECHO_REQUEST, ECHO_REPLY]))
    if protocol in (GRE, ESP, HIP):
        return Sent(outbound, protocol, remote)
    flags = rng.choice(["S", "SA", "A", "A", "PA", "FA", "R"]) if protocol == TCP else ""
    ports = rng.choice([5000, 5001, 500 if protocol == UDP else 5001]), rng.choice([80, 53 if protocol == UDP else 81])
    return Sent(outbound, protocol, remote, *ports, flags)


def test_what_leaves_is_the_packet_that_came() -> None:
    switch = FilterSwitch()
    sent = packet_of(out(UDP))
    leaves = packet_of(out(UDP))
    leaves.src = out_of(HOST, 1)
    assert switch.goes_out(0, sent) == (1, less(bytes(leaves)))
