"""Floods of a provider's port, while sessions stand and the other provider fails: nothing of theirs is crowded out."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address

import pytest
from attacked_site import AttackedSite
from looking import entries, kinds
from site_pair import SEND_TIMEOUT, answered, longest_silence, with_session

from wayname.hip.edge.sessions import HipSessions
from wayname.hip.messages import Kind, with_checksum
from wayname.wire.ipv6 import HIP, SHIM6, UDP, Packet
from wayname.wire.shim6.messages import I1, encode
from wayname_lab.virtual.lab import VirtualLab

A_SECOND = 4_000
PAYLOAD_KIND = 0x80


def forged(number: int) -> IPv6Address:
    """Return another source for each number, each in a /48 of its own."""
    return IPv6Address((0x2400 << 112) + (number << 80) + 1)


def floods(lab: VirtualLab) -> dict[str, Callable[[int], Packet]]:
    host, edge = lab.plan.hosts["a1"].address.ip, lab.controllers["a"].edge
    assert edge is not None
    hip = edge.manager(HipSessions)
    hit = hip.identities[host].hit if hip else host
    unknown = bytes((UDP, 0)) + (PAYLOAD_KIND << 40).to_bytes(6) + bytes(16)
    return {
        "i1": lambda number: Packet(forged(number), host, SHIM6, encode(I1(number, number))),
        "hip i1": lambda number: hip_i1(forged(number), host, hit),
        "unknown tags": lambda number: Packet(forged(number), host, SHIM6, unknown),
    }


def hip_i1(source: IPv6Address, host: IPv6Address, hit: IPv6Address) -> Packet:
    """Return the first message of somebody to a host."""
    asks = bytes([59, 5, Kind.I1, 0x21]) + bytes(4) + source.packed + hit.packed
    asks += (511).to_bytes(2) + (1).to_bytes(2) + bytes([8, 0, 0, 0])
    return Packet(source, host, HIP, with_checksum(asks, source, host))


@pytest.mark.parametrize(
    ("name", "kind"), [("two-sites", "i1"), ("two-sites", "unknown tags"), ("hip-edges", "i1"), ("hip-edges", "hip i1")]
)
def test_a_session_goes_to_the_provider_that_is_flooded_as_to_any(name: str, kind: str) -> None:
    lab = with_session(name)
    site, flood = AttackedSite(lab, "a", "q"), floods(lab)[kind]
    cut = lab.now
    lab.cut("a-p")
    site.flood_for(flood, A_SECOND, 4)
    for router in ("a", "b"):
        assert "session.moved" in kinds(lab, router, cut)
        assert entries(lab, router, "identities")[0]["path"] != 0
    assert longest_silence(lab, cut) < SEND_TIMEOUT + 1.0
    assert answered(lab, lab.now - 1) >= 8
    # That it goes back, once, shows that the two could ask each other all the while.
    repaired = lab.now
    lab.restore("a-p")
    site.flood_for(flood, 500, 20)
    for router in ("a", "b"):
        assert entries(lab, router, "identities")[0]["path"] == 0
        assert kinds(lab, router, repaired).count("session.moved") == 1
    assert longest_silence(lab, repaired) < 0.3
