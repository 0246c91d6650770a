"""What an edge does when a mistake of the program meets an input: it counts it, tells it seldom, and goes on."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address

import pytest
from hip.test_hip_modes import HIP_ROUTER
from rig import Host, Rig

from wayname.config.names import Transport
from wayname.edge.boundary import DnsQuery, DnsResponse, LearnedMac, PacketIn, Severity
from wayname.edge.faults import REST
from wayname.edge.fdb import Fdb
from wayname.edge.liveness import Liveness
from wayname.edge.neighbours import Neighbours
from wayname.hip.messages import Kind, Message, encode, with_checksum
from wayname.hip.parameters import HipSignature, HostId
from wayname.hip.suites import Algorithm, hit_of
from wayname.ioam.options import TraceOption, hop_by_hop
from wayname.p4_constants import Punt
from wayname.wire import icmpv6
from wayname.wire.discovery import HOP_LIMIT, NeighbourSolicitation
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import HIP, HOP_BY_HOP, Packet
from wayname.wire.mac import Mac, solicited_node

OUTSIDE, INSIDE = IPv6Address("2001:db8:3::66"), IPv6Address("2001:db8:1::a")
TWO_LINKS = HIP_ROUTER.partition("[hip]")[0]
contains_faults = pytest.mark.contains_faults


def i2_without_a_key() -> Packet:
    """Return an I2 whose HOST_ID has an RSA key of no octets, and a name of one."""
    host = HostId(Algorithm.RSA, b"", 1, b"\0")
    i2 = Message(Kind.I2, hit_of(host), IPv6Address("2001:21::1"), (host, HipSignature(Algorithm.RSA, bytes(8))))
    return Packet(OUTSIDE, INSIDE, HIP, with_checksum(encode(i2), OUTSIDE, INSIDE))


@pytest.mark.parametrize("mode", ["transparent", "verify"])
def test_an_i2_without_a_key_is_dropped_or_passes_and_ends_nothing(mode: str) -> None:
    rig = Rig(f'{HIP_ROUTER}{mode} = ["2001:db8:1::/64"]\n')
    sender = Host(rig, 2, 20, "02:00:00:00:00:22", str(OUTSIDE))
    receiver = Host(rig, 1, 10, "02:00:00:00:00:11", str(INSIDE))
    assert len(i2_without_a_key().encode()) == 112
    heard = receiver.heard(sender.send(i2_without_a_key()))
    assert [each.next_header for each in heard] == ([HIP] if mode == "transparent" else [])
    assert not rig.edge.faults.counts
    assert receiver.heard(sender.ping(INSIDE))


@dataclass
class Broken:
    """A method with a mistake, in the place of the right one."""

    monkeypatch: pytest.MonkeyPatch
    calls: int = 0

    def __call__(self, *_: object, **__: object) -> None:
        self.calls += 1
        raise IndexError("index 7 of secret octets")

    def instead_of(self, owner: type, name: str) -> Broken:
        """Take the place of a method."""
        self.monkeypatch.setattr(owner, name, lambda _self, *args, **more: self(*args, **more))
        return self


@contains_faults
def test_a_mistake_with_a_packet_is_counted_told_once_a_second_and_ends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig(TWO_LINKS)
    host = Host(rig, 2, 20, "02:00:00:00:00:22", str(OUTSIDE))
    with monkeypatch.context() as broken:
        Broken(broken).instead_of(type(rig.edge.routers), "echo")
        for _ in range(20):
            assert not host.heard(host.ping("2001:db8:3::ffff"))
    assert rig.edge.faults.counts == {"packet local": 20}
    [event] = [event for event in rig.events if event.kind == "edge.fault"]
    assert (event.severity, event.subject) == (Severity.ERROR, "packet local")
    assert "IndexError at composition/edge.py:" in event.text
    assert " in _local" in event.text
    assert "secret" not in event.text
    assert b"ping".hex() not in event.text
    assert host.heard(host.ping("2001:db8:3::ffff"))
    rig.advance(1.0)
    with monkeypatch.context() as broken:
        Broken(broken).instead_of(type(rig.edge.routers), "echo")
        host.ping("2001:db8:3::ffff")
    assert "(and 19 more before)" in [event.text for event in rig.events if event.kind == "edge.fault"][-1]


@contains_faults
@pytest.mark.parametrize(
    ("owner", "name", "given", "kind"),
    [
        (Fdb, "learned", LearnedMac(1, 10, 0x02_00_00_00_00_01), "LearnedMac"),
        (Neighbours, "asked", None, "packet neighbour solicitation"),
    ],
)
def test_each_kind_of_input_is_counted_by_itself(
    owner: type, name: str, given: LearnedMac | None, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(TWO_LINKS)
    Broken(monkeypatch).instead_of(owner, name)
    if given is not None:
        rig.receive(given)
    else:
        rig.receive(PacketIn(solicitation(), Punt.NEIGHBOUR_SOLICITATION, 2, 20))
    assert rig.edge.faults.counts == {kind: 1}


def solicitation() -> bytes:
    """Return a frame with a question for the router's MAC."""
    mac, asked = Mac.parse("02:00:00:00:00:22"), IPv6Address("2001:db8:3::ffff")
    packet = NeighbourSolicitation(asked, mac).message().packet(OUTSIDE, solicited_node(asked), HOP_LIMIT)
    return Frame(Mac.parse("33:33:ff:00:ff:ff"), mac, TYPE_IPV6, packet.encode()).encode()


@contains_faults
def test_a_timer_with_a_mistake_does_not_spin_and_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(TWO_LINKS + '[[route]]\nprefix = "::/0"\nvia = ["2001:db8:3::1"]\n')
    broken = Broken(monkeypatch).instead_of(Liveness, "handle_timer")
    # What is due stays due, as nobody did it.
    monkeypatch.setattr(Liveness, "next_timer", lambda _self: 0.0)
    solicited = len(rig.sent)
    rig.advance(10.0)
    assert broken.calls <= 10.0 / REST + 1
    assert rig.edge.faults.counts["timer of Liveness"] == broken.calls > 10
    assert rig.edge.faults.counts.keys() == {"timer of Liveness"}
    host = Host(rig, 2, 20, "02:00:00:00:00:22", str(OUTSIDE))
    assert host.heard(host.ping("2001:db8:3::ffff"))
    assert len(rig.sent) > solicited
    told = [event for event in rig.events if event.kind == "edge.fault"]
    assert len(told) <= 11


@contains_faults
def test_a_timer_goes_on_when_its_mistake_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(TWO_LINKS + '[[route]]\nprefix = "::/0"\nvia = ["2001:db8:3::1"]\n')
    with monkeypatch.context() as for_a_while:
        Broken(for_a_while).instead_of(Liveness, "handle_timer")
        rig.advance(1.0)
    rig.sent.clear()
    rig.advance(5.0)
    assert any(packet_type(frame.payload) == icmpv6.NEIGHBOUR_SOLICITATION for _, frame in rig.sent)


def packet_type(octets: bytes) -> int:
    """Return the ICMPv6 type of a packet without extension headers."""
    return Packet.decode(octets).payload[0]


def test_what_cannot_be_decoded_is_counted_and_no_fault() -> None:
    rig = Rig(TWO_LINKS)
    rig.receive(PacketIn(b"\0" * 20, Punt.LOCAL, 1, 10))
    rig.receive(PacketIn(b"", Punt.DHCPV6, 1, 10))
    rig.receive(DnsResponse(DnsQuery(OUTSIDE, 53, Transport.UDP, b""), b"\0"))
    assert rig.edge.undecodable == {Punt.LOCAL: 1, Punt.DHCPV6: 1}
    assert not rig.edge.faults.counts


def test_a_trace_that_asks_for_nothing_does_not_keep_the_edge_for_ever() -> None:
    rig = Rig(TWO_LINKS)
    host = Host(rig, 2, 20, "02:00:00:00:00:22", str(OUTSIDE))
    option = TraceOption(namespace=1, node_length=0, flags=0, words_left=0, type=1, data=bytes(8)).encode()
    router = IPv6Address("2001:db8:3::ffff")
    packet = Packet(OUTSIDE, router, HOP_BY_HOP, hop_by_hop(59, option))
    host.send(packet)
    frame = host.frame(host.router.mac, packet).encode()
    rig.receive(PacketIn(frame, Punt.LOCAL, 2, 20))
    assert rig.edge.undecodable[Punt.LOCAL] >= 1
    assert host.heard(host.ping(router))
