"""Packets put onto paths of every length in every mode, and led along them by the router's own segments."""

from __future__ import annotations

import pytest
from carriers import IN_FRAME, hop_less, inline, ipv6, ipv6_of, octets, out_by_first, segment_header, start_of, tunnel
from segment_cases import (
    END,
    FRAME,
    FRAME_REDUCED,
    INLINE,
    PATH,
    REDUCED,
    SOURCE,
    TUNNEL,
    arrives,
    from_first_host,
)
from site_switch import SiteSwitch

from small_site import FAR, IP_OF, to_router, udp

LONGEST = 36
ORDINALS = ("first", "second", "third", "fourth")


@pytest.fixture(scope="module", params=["jit", "interpreter"])
def edge(request: pytest.FixtureRequest) -> SiteSwitch:
    switch = SiteSwitch(request.param)
    switch.add("routes", "route_nexthop", {"destination": "fd00::/16"}, {"nexthop": 1})
    for count in range(1, LONGEST + 1):
        put(switch, count, PATH[:count])
        for mode in (INLINE, TUNNEL, REDUCED, FRAME, FRAME_REDUCED):
            bound = {"mode": mode, "policy": count, "trace": 0}
            switch.add("encapsulations", "encapsulate_segments", {"destination": f"{prefix(count, mode)}/64"}, bound)
    switch.add("sids", "end", {"destination": f"{END}/128"}, {"flavours": 0})
    return switch


def prefix(count: int, mode: int) -> str:
    return f"2001:db8:{0xF000 + count:x}:{mode}::"


def put(switch: SiteSwitch, policy: int, path: tuple[str, ...]) -> None:
    own = (len(path) - 1) % 4 + 1
    lists = [path[at : at + 4] for at in range(own, len(path), 4)]
    parameters: dict[str, int | str] = {"source": SOURCE, "extensions": len(lists), "hmac": 0}
    parameters |= dict(zip(ORDINALS, path[:own], strict=False))
    switch.add("sr_policies", f"push_segments_{own}", {"policy": policy}, parameters)
    for number, four in enumerate(lists, 1):
        segments: dict[str, int | str] = dict(zip(ORDINALS, four, strict=True))
        switch.add(f"segment_list_extension_{number}", f"push_extension_{number}", {"policy": policy}, segments)


@pytest.mark.parametrize("mode", [INLINE, TUNNEL, REDUCED, FRAME, FRAME_REDUCED])
def test_every_length_in_every_mode(edge: SiteSwitch, mode: int) -> None:
    for count in range(1, LONGEST + 1):
        packet = to_router(udp(to=f"{prefix(count, mode)}1", tc=8, fl=0xABCDE))
        inner, path = hop_less(ipv6_of(packet)), PATH[:count]
        if mode == INLINE:
            expected = inline(inner, path)
        elif mode in (FRAME, FRAME_REDUCED):
            expected = tunnel(bytes(packet), path, SOURCE, mode == FRAME_REDUCED, IN_FRAME, start=start_of(inner))
        else:
            expected = tunnel(inner, path, SOURCE, mode == REDUCED)
        assert edge.send(1, bytes(packet)) == [(4, bytes(out_by_first(expected)))]


@pytest.mark.parametrize("count", [2, 31, 88])
def test_a_packet_visits_all_segments_of_a_path_in_order(edge: SiteSwitch, count: int) -> None:
    """Each odd stop of the path is this router; the others are only routed."""
    sids = [END if at % 2 == 0 else f"fd00:200::{at:x}" for at in range(count - 1)] + [FAR]
    packet = ipv6(43, segment_header(17, sids, count - 1) + bytes(udp())[40:], IP_OF[1], END, hop_limit=200)
    visited = [packet[24:40]]
    while packet[43] > 0:
        [(port, output)] = edge.send(4, bytes(arrives(packet)))
        assert port == 4
        packet = output[14:]
        visited.append(packet[24:40])
        if packet[24:40] != octets(END) and packet[43] > 0:  # another router takes it on
            left = packet[43] - 1
            packet = packet[:24] + octets(sids[count - 1 - left]) + packet[40:43] + bytes([left]) + packet[44:]
            visited.append(packet[24:40])
    assert visited == [octets(sid) for sid in sids]
    assert packet[44:] == segment_header(17, sids, 0)[4:] + bytes(udp())[40:]


def test_nothing_leaks_into_the_packet_behind(edge: SiteSwitch) -> None:
    """A long list, then a packet without one: it looks as it would after any other."""
    plain = bytes(to_router(udp()))
    before = edge.send(1, plain)
    for mode in (INLINE, TUNNEL, REDUCED, FRAME, FRAME_REDUCED):
        edge.send(1, bytes(to_router(udp(to=f"{prefix(LONGEST, mode)}1"))))
        assert edge.send(1, plain) == before
        edge.send(1, bytes(from_first_host(ipv6(43, segment_header(17, PATH[:30], 3), IP_OF[1], FAR))))
        assert edge.send(1, plain) == before
