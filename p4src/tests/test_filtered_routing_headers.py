"""Routing headers at a border that filters: who writes the way of a packet does not write himself past the filter."""

from __future__ import annotations

import pytest
from border_site import out_of
from carriers import ROUTING, ipv6, octets, segment_header, source_route
from filter_model import UDP, Sent
from filter_switch import HOST, FilterSwitch, packet_of
from segment_cases import END
from segment_proof_cases import hmac_tlv

from small_site import FAR

OUTSIDE = out_of(HOST, 1)
ELSEWHERE = "2001:db8:1::12"  # a host inside that sends nothing
HOME_ADDRESS, NIMROD, COMPACT, EXPERIMENTAL = 2, 1, 5, 253
WITHOUT_FLOW = "DROP_UNSOLICITED"
BORDER = "DROP_SEGMENTS_AT_BORDER"


def payload(inbound: bool = True) -> bytes:
    """A datagram of the flow that `asked` begins."""
    return bytes(packet_of(Sent(not inbound, UDP, FAR, 5000, 80)))[40:]


def asked(switch: FilterSwitch) -> None:
    """The host has sent to FAR, so FAR may send to it."""
    assert switch.crosses(0, Sent(True, UDP, FAR, 5000, 80))
    assert switch.crosses(0, Sent(False, UDP, FAR, 5000, 80))


def routed_by(kind: int, left: int, next_header: int = UDP) -> bytes:
    """A routing header of any type with one address."""
    if kind == 3:
        return source_route(next_header, [ELSEWHERE], left, 0, 0)
    if kind == 4:
        return segment_header(next_header, [ELSEWHERE], left)
    return bytes([next_header, 2, kind, left]) + bytes(4) + octets(ELSEWHERE)


def from_outside(header: bytes, to: str = OUTSIDE, source: str = FAR) -> bytes:
    return ipv6(ROUTING, header + payload(), source, to)


def with_segment(switch: FilterSwitch) -> None:
    """END is a segment of this router."""
    switch.add("sids", "end", {"destination": f"{END}/128"}, {"flavours": 0})


@pytest.mark.parametrize("kind", [NIMROD, 3, 4, COMPACT, EXPERIMENTAL])
@pytest.mark.parametrize("to", [OUTSIDE, HOST])
def test_what_is_to_go_on_from_a_host_does_not_come_in(kind: int, to: str) -> None:
    switch = FilterSwitch()
    asked(switch)
    assert switch.comes_in(1, 1, from_outside(routed_by(kind, 1), to)) is None
    assert switch.dropped(BORDER) == 1
    if to == OUTSIDE:
        assert switch.comes_in(2, 1, from_outside(routed_by(kind, 0), to)) is not None, "it has arrived"


@pytest.mark.parametrize("kind", [3, 4, EXPERIMENTAL])
def test_a_second_routing_header_is_looked_at_too(kind: int) -> None:
    switch = FilterSwitch()
    asked(switch)
    arrived = segment_header(ROUTING, [HOST], 0)
    assert switch.comes_in(1, 1, from_outside(arrived + routed_by(kind, 1))) is None
    assert switch.dropped(BORDER) == 1
    assert switch.comes_in(2, 1, from_outside(arrived + routed_by(kind, 0))) is not None


def test_type_0_behind_another_routing_header_is_type_0() -> None:
    switch = FilterSwitch()
    asked(switch)
    arrived = segment_header(ROUTING, [HOST], 0)
    assert switch.comes_in(1, 1, from_outside(arrived + routed_by(0, 0))) is None
    assert switch.dropped("DROP_ROUTING_HEADER_0") == 1


def test_a_home_address_is_judged_by_records() -> None:
    switch = FilterSwitch()
    assert switch.comes_in(0, 1, from_outside(routed_by(HOME_ADDRESS, 1))) is None
    assert switch.dropped(WITHOUT_FLOW) == 1
    asked(switch)
    assert switch.comes_in(1, 1, from_outside(routed_by(HOME_ADDRESS, 1))) is not None


@pytest.mark.parametrize("inside", [OUTSIDE, HOST])
def test_the_last_segment_is_judged_by_records(inside: str) -> None:
    switch = FilterSwitch(address_dependent=True)
    with_segment(switch)
    packet = from_outside(segment_header(UDP, [END, inside], 1), END)
    assert switch.comes_in(0, 1, packet) is None
    assert switch.dropped(WITHOUT_FLOW) == 1
    asked(switch)
    assert switch.comes_in(1, 1, packet) is not None
    other = from_outside(segment_header(UDP, [END, inside], 1), END, "2001:db8:bad::1")
    assert switch.comes_in(2, 1, other) is None


def test_a_segment_of_the_router_is_no_way_to_a_segment_inside() -> None:
    switch = FilterSwitch()
    with_segment(switch)
    asked(switch)
    assert switch.comes_in(1, 1, from_outside(segment_header(UDP, [END, HOST, ELSEWHERE], 2), END)) is None
    assert switch.dropped(BORDER) == 1


def test_a_hop_of_the_router_is_no_way_inside() -> None:
    switch = FilterSwitch()
    switch.add("sids", "source_route_hop", {"destination": f"{END}/128"}, {})
    assert switch.comes_in(0, 1, from_outside(source_route(UDP, [HOST], 1, 0, 0), END)) is None
    assert switch.dropped(WITHOUT_FLOW) == 1
    assert switch.comes_in(1, 1, from_outside(source_route(UDP, [HOST, ELSEWHERE], 2, 0, 0), END)) is None
    assert switch.dropped(BORDER) == 1


def test_a_verified_list_comes_in() -> None:
    switch = FilterSwitch()
    with_segment(switch)
    switch.add("hmac_rules", "require_hmac", {"destination": f"{END}/128"}, {})
    tlv = hmac_tlv()
    path = [END, HOST, ELSEWHERE]
    header = segment_header(UDP, path, 2, tlvs=tlv)
    segments = header[8 : 8 + 48].ljust(8 * 16, b"\0")
    keys: dict[str, str | int] = {"source": FAR, "last_entry": 2, "flags": 0}
    numbers = {"segments": int.from_bytes(segments), "proof": int.from_bytes(tlv)}
    switch.add("verified_segments", "verified", {**keys, **numbers}, {})
    assert switch.comes_in(0, 1, from_outside(header, END)) is not None


@pytest.mark.parametrize("left", [0, 1])
def test_a_forged_source_is_one_with_any_header(left: int) -> None:
    switch = FilterSwitch()
    assert switch.comes_in(0, 1, from_outside(routed_by(4, left), source=ELSEWHERE)) is None
    assert switch.dropped("DROP_BORDER_SOURCE") == 1


def test_segments_go_out_and_source_routes_do_not() -> None:
    switch = FilterSwitch()
    segments = segment_header(UDP, [FAR, "2001:db8:f00::2"], 1) + payload(False)
    assert switch.goes_out(0, ipv6(ROUTING, segments, HOST, FAR)) == (1, ipv6(ROUTING, segments, OUTSIDE, FAR, 63))
    assert switch.goes_out(1, ipv6(ROUTING, source_route(UDP, [FAR], 1, 0, 0) + payload(False), HOST, FAR)) is None
    assert switch.dropped(BORDER) == 1


def test_nothing_is_filtered_where_nothing_is_to_be() -> None:
    switch = FilterSwitch(enabled=False)
    assert switch.comes_in(0, 1, from_outside(routed_by(4, 1))) is not None
