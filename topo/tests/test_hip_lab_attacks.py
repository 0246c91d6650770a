"""What others may try against sessions of HIP: with the tables, the controllers and the hosts of a lab.

Whoever is on the path sees all messages, and may send them again, change them, or send them from elsewhere.
"""

from __future__ import annotations

import random
from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from attacked_site import AttackedSite
from looking import entries, kinds
from site_pair import answered, steady, talking
from test_hip_edges import longest_gap
from test_hip_lab import hip_lab, hit

from wayname.edge.boundary import AssociationAction, ChangeAssociation
from wayname.hip.edge.sessions import HipSessions
from wayname.hip.messages import Kind, with_checksum
from wayname.wire.ethernet import Frame
from wayname.wire.ipv6 import HIP, Packet

VICTIM = IPv6Address("2001:db8:177:10::1")
TABLES = ("identities", "context_tags", "spis", "paths", "locator_pairs", "backups")


class Attacked(AttackedSite):
    """Two sites with one session, and somebody at provider p who sends to site a what he likes."""

    @property
    def messages(self) -> list[Packet]:
        """The HIP messages that came to site a."""
        packets = [Packet.decode(Frame.decode(frame).payload) for frame in self.heard]
        return [packet for packet in packets if packet.next_header == HIP]

    def of_kind(self, *wanted: Kind) -> list[Packet]:
        """Return those of some kinds."""
        return [packet for packet in self.messages if packet.payload[2] in wanted]

    def tables(self) -> list[list[dict[str, int]]]:
        """Return what the switch of site a holds of sessions."""
        return [entries(self.lab, "a", table) for table in TABLES]

    def to(self, victim: IPv6Address) -> list[Packet]:
        """Return what left site a for somebody."""
        packets = [Packet.decode(Frame.decode(frame).payload) for frame in self.sent]
        return [packet for packet in packets if packet.destination == victim]


def edges_speak() -> Attacked:
    """The edges speak for the hosts."""
    attacked = Attacked(talking(steady("hip-edges")), "a", "p")
    attacked.lab.run_for(3)
    return attacked


def hosts_speak() -> Attacked:
    """The hosts speak themselves, and encrypt; the edges read what they say."""
    attacked = Attacked(hip_lab(), "a", "p")
    attacked.lab.run_until(1.0)
    attacked.lab.command("b1", "ping", to=hit(attacked.lab, "a1"), count=0, interval=0.02)
    attacked.lab.command("a1", "ping", to=hit(attacked.lab, "b1"), count=0, interval=0.02)
    attacked.lab.run_for(2)
    return attacked


def from_elsewhere(packet: Packet, source: IPv6Address) -> Packet:
    """Return the same message from another address; nothing that is signed says which it was."""
    return Packet(source, packet.destination, HIP, with_checksum(packet.payload, source, packet.destination))


def changed(packet: Packet, octet: int) -> Packet:
    """Return a message with another octet, and the checksum that fits."""
    payload = packet.payload[:octet] + bytes([packet.payload[octet] ^ 1]) + packet.payload[octet + 1 :]
    return replace(packet, payload=with_checksum(payload, packet.source, packet.destination))


@pytest.fixture(params=[edges_speak, hosts_speak])
def attacked(request: pytest.FixtureRequest) -> Attacked:
    site: Attacked = request.param()
    assert len(site.tables()[0]) == 1
    assert len(site.of_kind(Kind.UPDATE)) >= 3
    return site


def still_talk(attacked: Attacked, since: float) -> bool:
    """Whether the hosts still hear each other as before."""
    if attacked.lab.plan.lab.hip is not None:
        return longest_gap(attacked.lab, since) < 0.1
    return answered(attacked.lab, since) > 8 * (attacked.lab.now - since)


def test_what_is_replayed_changes_nothing_here_or_from_elsewhere(attacked: Attacked) -> None:
    before, since = attacked.tables(), attacked.lab.now
    for packet in attacked.messages:
        attacked.send(packet)
        attacked.send(from_elsewhere(packet, VICTIM))
    attacked.lab.run_for(2)
    assert attacked.tables() == before
    assert not {"session.down", "session.moved"} & set(kinds(attacked.lab, "a", since))
    assert still_talk(attacked, since)
    # Nobody is flooded: at most one answer each, and questions to a locator are bounded.
    assert len(attacked.to(VICTIM)) <= len(attacked.messages)


def test_what_is_forged_changes_nothing(attacked: Attacked) -> None:
    before, since = attacked.tables(), attacked.lab.now
    rng = random.Random(1)
    for packet in attacked.messages:
        # Behind the header: parameters, MAC, signature.
        for octet in rng.sample(range(44, len(packet.payload)), min(8, len(packet.payload) - 44)):
            attacked.send(changed(packet, octet))
    attacked.lab.run_for(2)
    assert attacked.tables() == before
    assert not {"session.down", "session.moved", "session.up"} & set(kinds(attacked.lab, "a", since))
    assert {"hip.dropped", "hip.refused"} & set(kinds(attacked.lab, "a", since))
    assert still_talk(attacked, since)


def test_a_flood_of_first_messages_costs_bounded_answers_and_no_session() -> None:
    attacked = edges_speak()
    attacked.lab.controllers["a"].command(ChangeAssociation(*_addresses(attacked), AssociationAction.CLOSE))
    attacked.lab.run_for(3)
    before, since = attacked.tables(), attacked.lab.now
    edge = attacked.lab.controllers["a"].edge
    hip = edge.manager(HipSessions) if edge is not None else None
    assert hip is not None
    host = next(iter(hip.identities.items()))
    peers = int(IPv6Address("2001:20::"))
    for number in range(400):
        asks = bytes([59, 4 + 1, Kind.I1, 0x21]) + bytes(4) + (peers | 2 << 96 | number).to_bytes(16)
        asks += host[1].hit.packed + (511).to_bytes(2) + (1).to_bytes(2) + bytes([8, 0, 0, 0])
        source = VICTIM + number
        attacked.send(Packet(source, host[0], HIP, with_checksum(asks, source, host[0])))
    answers = [packet for number in range(400) for packet in attacked.to(VICTIM + number)]
    # A hundred at once to a /64, and twenty a second.
    assert 0 < len(answers) <= 100 + 20 * (attacked.lab.now - since + 1)
    assert len(hip.associations()) <= 1
    assert hip.difficulty(attacked.lab.now) == hip.config.difficulty
    attacked.lab.run_for(2)
    assert still_talk(attacked, attacked.lab.now - 1)
    assert [len(each) for each in attacked.tables()] == [len(each) for each in before]


def test_an_end_of_before_ends_nothing() -> None:
    attacked = edges_speak()
    attacked.lab.controllers["b"].command(ChangeAssociation(*_addresses(attacked)[::-1], AssociationAction.CLOSE))
    attacked.lab.run_for(4)
    [close, *_] = attacked.of_kind(Kind.CLOSE)
    before, since = attacked.tables(), attacked.lab.now
    assert len(before[0]) == 1
    attacked.send(close)
    attacked.lab.run_for(1)
    assert attacked.tables() == before
    assert "session.down" not in kinds(attacked.lab, "a", since)


def _addresses(attacked: Attacked) -> tuple[IPv6Address, IPv6Address]:
    a1, b1 = (attacked.lab.plan.hosts[name].address.ip for name in ("a1", "b1"))
    return a1, b1
