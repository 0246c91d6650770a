"""BEET mode: HITs inside, locators outside, several SPIs in a rekey (RFC 7402, section 3.3 and appendix B)."""

import random
from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from hip.esp.associations import GCM, HIT_A, HIT_B, LOCATOR_A, LOCATOR_B, keys_of

from wayname.hip.esp.associations import Incoming, Outgoing
from wayname.hip.esp.beet import ESP, Beet, Peer
from wayname.hip.esp.errors import Rejected
from wayname.hip.esp.keys import draw_keys
from wayname.wire.checksum import upper_layer_checksum
from wayname.wire.ipv6 import UDP, Packet

SPI_A, SPI_B = 0x1000, 0x2000


def peers(seed: int = 1) -> tuple[Beet, Beet]:
    """Two hosts with associations in both directions, keys drawn of the same material."""
    hosts = []
    ends = ((HIT_A, LOCATOR_A, SPI_A), (HIT_B, LOCATOR_B, SPI_B))
    for mine, theirs in (ends, ends[::-1]):
        rng = random.Random(seed)
        outgoing, incoming = draw_keys(rng.randbytes, GCM, mine[0], theirs[0])
        beet, peer = Beet(), Peer(mine[0], theirs[0], mine[1], theirs[1])
        beet.add_peer(peer)
        peer.outgoing = Outgoing(theirs[2], GCM, outgoing, rng.randbytes)
        beet.admit(peer, Incoming(mine[2], GCM, incoming, rng.randbytes))
        hosts.append(beet)
    return hosts[0], hosts[1]


def datagram(source: IPv6Address = HIT_A, destination: IPv6Address = HIT_B) -> Packet:
    """A UDP datagram whose checksum covers the HITs."""
    body = b"\x13\x88\x13\x89\0\x0f\0\0wayname"
    checksum = upper_layer_checksum(source, destination, UDP, body)
    body = body[:6] + checksum.to_bytes(2) + body[8:]
    return Packet(source, destination, UDP, body, hop_limit=61, traffic_class=0xB8, flow_label=0xABCDE)


def test_hits_inside_locators_outside() -> None:
    a, b = peers()
    wire = a.wrap(datagram())
    assert wire is not None
    assert (wire.source, wire.destination, wire.next_header) == (LOCATOR_A, LOCATOR_B, ESP)
    assert (wire.hop_limit, wire.traffic_class, wire.flow_label) == (61, 0xB8, 0xABCDE)
    assert wire.payload[:4] == SPI_B.to_bytes(4)
    assert b"wayname" not in wire.payload
    assert b.unwrap(replace(wire, hop_limit=58)).packet == replace(datagram(), hop_limit=58)


def test_both_directions() -> None:
    a, b = peers()
    wire = b.wrap(datagram(HIT_B, HIT_A))
    assert wire is not None and wire.payload[:4] == SPI_A.to_bytes(4)
    assert a.unwrap(wire).packet == datagram(HIT_B, HIT_A)


def test_locators_are_of_no_meaning_to_the_receiver() -> None:
    a, b = peers()
    wire = a.wrap(datagram())
    assert wire is not None
    moved = replace(wire, source=IPv6Address("2001:db8:7::7"), destination=IPv6Address("2001:db8:8::8"))
    assert b.unwrap(moved).packet == datagram()


def test_a_peer_moves() -> None:
    a, b = peers()
    peer = a.peer(HIT_A, HIT_B)
    assert peer is not None
    peer.source, peer.destination = IPv6Address("2001:db8:7::7"), IPv6Address("2001:db8:8::8")
    wire = a.wrap(datagram())
    assert wire is not None and (wire.source, wire.destination) == (peer.source, peer.destination)
    assert b.unwrap(wire).packet == datagram()


def test_without_association_nothing_leaves() -> None:
    a, _ = peers()
    assert a.wrap(datagram(HIT_B, HIT_A)) is None


def test_an_spi_that_nobody_gave() -> None:
    a, b = peers()
    wire = a.wrap(datagram())
    assert wire is not None
    with pytest.raises(Rejected, match="spi_unknown"):
        a.unwrap(wire)
    with pytest.raises(Rejected, match="spi_unknown"):
        b.unwrap(replace(wire, payload=bytes(8)))
    with pytest.raises(Rejected, match="short"):
        b.unwrap(replace(wire, payload=wire.payload[:7]))


def test_in_a_rekey_both_spis_are_taken() -> None:
    a, b = peers()
    before = a.wrap(datagram())
    late = a.wrap(datagram())
    to_b, to_a = b.peer(HIT_B, HIT_A), a.peer(HIT_A, HIT_B)
    assert before and late and to_b and to_a
    rng = random.Random(5)
    keys = keys_of(GCM, seed=6)
    b.admit(to_b, Incoming(0x3000, GCM, keys, rng.randbytes))
    to_a.outgoing = Outgoing(0x3000, GCM, keys, rng.randbytes)
    after = a.wrap(datagram())
    assert after is not None
    assert [b.unwrap(wire).packet for wire in (after, before)] == [datagram()] * 2
    b.refuse(SPI_B)
    with pytest.raises(Rejected, match="spi_unknown"):
        b.unwrap(late)


def test_an_spi_names_one_association() -> None:
    a, _ = peers()
    peer = a.peer(HIT_A, HIT_B)
    assert peer is not None and a.spi_in_use(SPI_A) and not a.spi_in_use(SPI_B)
    with pytest.raises(ValueError, match="SPI 0x00001000 is in use"):
        a.admit(peer, Incoming(SPI_A, GCM, keys_of(GCM), random.Random(0).randbytes))


def test_a_forgotten_peer_is_not_heard() -> None:
    a, b = peers()
    wire = a.wrap(datagram())
    assert wire is not None
    b.forget(HIT_B, HIT_A)
    with pytest.raises(Rejected, match="spi_unknown"):
        b.unwrap(wire)


def test_the_newest_packet_is_told_from_stragglers() -> None:
    a, b = peers()
    wires = [a.wrap(datagram()) for _ in range(3)]
    opened = [b.unwrap(wire) for wire in (wires[0], wires[2], wires[1]) if wire is not None]
    assert [one.is_newest for one in opened] == [True, True, False]
    assert {one.spi for one in opened} == {SPI_B}
