"""ICMPv6 errors about packets of sessions of HIP, on the virtual clock: hosts and the edge learn of them."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from looking import kinds
from site_pair import with_session
from test_hip_lab import seen_on

from wayname.edge.boundary import MoveSession
from wayname.wire import icmpv6
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import SHIM6, TCP, Packet
from wayname.wire.mac import Mac
from wayname_lab.virtual.lab import VirtualLab

ROUTER = IPv6Address("2001:db8:77::1")
HEADER = 8


@pytest.fixture
def moved() -> tuple[VirtualLab, Packet]:
    """A lab whose session goes by q, with a header on its packets, and one of those."""
    lab = with_session("hip-edges")
    lab.controllers["a"].command(MoveSession(1, 3))
    lab.run_for(0.5)
    by_q = seen_on(lab, "a-q", "q")
    lab.run_for(0.5)
    return lab, next(packet for packet in by_q if packet.next_header == SHIM6 and packet.payload[0] == TCP)


def tell(lab: VirtualLab, message: icmpv6.Message, destination: IPv6Address) -> list[icmpv6.Message]:
    """Let a router beyond q send an error; return those that a1 gets."""
    at_host = seen_on(lab, "a-a1", "a1")
    edge = lab.controllers["a"].edge
    assert edge is not None
    interface = next(each for each in edge.config.interfaces if each.name == "to-q")
    frame = Frame(interface.mac, Mac(2), TYPE_IPV6, message.packet(ROUTER, destination).encode())
    lab.links["a-q"].receivers["a"](frame.encode())
    lab.run_for(0.2)
    return [icmpv6.Message.decode(packet) for packet in at_host if packet.source == ROUTER]


def test_a_host_learns_what_fits_by_a_path_with_a_header(moved: tuple[VirtualLab, Packet]) -> None:
    lab, packet = moved
    error = icmpv6.Message(icmpv6.PACKET_TOO_BIG, 0, (1400).to_bytes(4) + packet.encode())
    [told] = tell(lab, error, packet.source)
    assert int.from_bytes(told.body[:4]) == 1400 - HEADER
    a1, b1 = (lab.plan.hosts[name].address.ip for name in ("a1", "b1"))
    assert told.body[4:] == Packet(a1, b1, TCP, packet.payload[HEADER:], packet.hop_limit).encode()


@pytest.mark.parametrize("octet", [47, 23, 39])
def test_an_error_about_nothing_of_ours_is_left_alone(moved: tuple[VirtualLab, Packet], octet: int) -> None:
    lab, packet = moved
    # Another tag, another source, another destination.
    quoted = bytearray(packet.encode())
    quoted[octet] ^= 1
    error = icmpv6.Message(icmpv6.PACKET_TOO_BIG, 0, (1400).to_bytes(4) + bytes(quoted))
    assert tell(lab, error, packet.source) == []


def test_a_router_that_says_so_makes_the_edge_look_and_no_more(moved: tuple[VirtualLab, Packet]) -> None:
    lab, packet = moved
    since = lab.now
    assert tell(lab, icmpv6.Message(icmpv6.UNREACHABLE, 0, bytes(4) + packet.encode()), packet.source) == []
    lab.run_for(2)
    assert not {"session.moved", "session.exploring"} & set(kinds(lab, "a", since))
