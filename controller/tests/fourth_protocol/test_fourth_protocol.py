"""A protocol that no product file names carries a session between two edges, each with a real switch."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

import finsy as fy
import pytest
from fourth_protocol.manager import IDLE, KeyedSessions, Rules
from fourth_protocol.messages import NONCE_OCTETS, Kind, Message
from fourth_protocol.protocol import keyed
from rig import Host, Rig

from wayname.composition.protocols import PROTOCOLS
from wayname.session.keys import Pair
from wayname.wire.ipv6 import Packet
from wayname.wire.udp import Datagram

KEY = b"what both edges know, and nobody else"
LAN, UPLINK = 1, 2
DATA = bytes(1000)


def address(site: int) -> IPv6Address:
    """Return the address of a site's host."""
    return IPv6Address(f"2001:db8:10{site}:10::a")


class Site:
    """An edge and its host."""

    def __init__(self, number: int, key: bytes) -> None:
        self.number, self.read = number, 0
        config = f"""
[[port]]
number = {LAN}
vlan = 10
[[port]]
number = {UPLINK}
vlan = 20
[[interface]]
vlan = 10
addresses = ["2001:db8:10{number}:10::1/64"]
[[interface]]
vlan = 20
mac = "02:00:00:00:20:0{number}"
addresses = ["2001:db8:0:1::{number}/64"]
[[provider]]
name = "p"
prefix = "2001:db8:10{number}::/48"
via = ["2001:db8:0:1::{3 - number}"]
"""
        rules = Rules(IPv6Network(f"2001:db8:10{number}:10::/64"), key)
        self.rig = Rig(config, protocols=(*PROTOCOLS, keyed(rules)))
        self.host = Host(self.rig, LAN, 10, f"02:00:00:00:00:0{number}", str(address(number)))

    @property
    def sessions(self) -> KeyedSessions:
        """What keeps the sessions of the edge."""
        found = self.rig.edge.manager(KeyedSessions)
        assert found is not None
        return found

    def heard(self) -> list[bytes]:
        """Return the data of all datagrams that the host got."""
        packets = self.host.heard(self.rig.sent)
        return [Datagram.decode(each).data for each in packets if each.next_header == 17]

    def passed(self) -> int:
        """Return how many packets went by paths of sessions."""
        [wanted] = self.rig.read([fy.P4TableEntry("paths", counter_data=fy.P4CounterData())])
        assert isinstance(wanted, fy.P4TableEntry) and wanted.counter_data is not None
        return wanted.counter_data.packet_count


class Network:
    """Two sites, and the link between their uplinks."""

    def __init__(self, key_of_b: bytes = KEY) -> None:
        self.a, self.b = Site(1, KEY), Site(2, key_of_b)
        self.lost = 0
        self.advance(3)
        for site in (self.a, self.b):
            site.host.ping(f"2001:db8:10{site.number}:10::1")
        self.advance(1)

    def advance(self, seconds: float) -> None:
        """Let time pass, and frames go over the link."""
        for _ in range(round(seconds * 10)):
            for site in (self.a, self.b):
                site.rig.advance(0.1)
            self.carry()

    def carry(self) -> None:
        """Carry frames until there are none; the first ones may be lost."""
        busy = True
        while busy:
            busy = False
            for here, there in ((self.a, self.b), (self.b, self.a)):
                new, here.read = here.rig.sent[here.read :], len(here.rig.sent)
                for _, frame in ((port, frame) for port, frame in new if port == UPLINK):
                    busy = True
                    if self.lost and b"\x12\x8b\x12\x8b" in frame.payload:
                        self.lost -= 1
                    else:
                        there.rig.inject(UPLINK, frame)

    def send(self, count: int) -> None:
        """Let the host of A send datagrams to that of B."""
        for _ in range(count):
            self.a.host.send(Datagram(5000, 5001, DATA).packet(address(1), address(2)))
            self.carry()


def test_two_messages_make_a_session_that_carries_packets() -> None:
    network = Network()
    network.send(4)
    network.advance(1)
    assert list(network.a.sessions.sessions) == [Pair(address(1), address(2))]
    assert list(network.b.sessions.sessions) == [Pair(address(2), address(1))]
    assert [site.rig.kinds().count("session.up") for site in (network.a, network.b)] == [1, 1]
    before = network.a.passed(), len(network.b.heard())
    network.send(10)
    assert (network.a.passed(), len(network.b.heard())) == (before[0] + 10, before[1] + 10)
    assert set(network.b.heard()) == {DATA}


def test_a_message_that_is_lost_is_sent_again() -> None:
    network = Network()
    network.lost = 2
    network.send(4)
    network.advance(0.5)
    assert not network.a.sessions.sessions
    network.advance(4)
    assert len(network.a.sessions.sessions) == len(network.b.sessions.sessions) == 1


@pytest.mark.parametrize("kind", Kind)
def test_who_does_not_know_the_key_gets_no_session(kind: Kind) -> None:
    network = Network(key_of_b=b"another one")
    network.send(4)
    network.advance(6)
    forged = Message(kind, Pair(address(2), address(1)), bytes(NONCE_OCTETS)).packet(b"a third one")
    network.b.host.send(forged)
    network.advance(1)
    assert not network.a.sessions.sessions and not network.b.sessions.sessions
    assert network.a.rig.edge.undecodable.total() >= 1
    assert network.a.rig.entries("identities") == []


def test_a_session_ends_when_its_hosts_are_silent() -> None:
    network = Network()
    network.send(4)
    network.advance(1)
    for site in (network.a, network.b):
        site.rig.advance(IDLE + 10)
        assert not site.sessions.sessions
        assert [len(site.rig.entries(table)) for table in ("identities", "paths", "locator_pairs")] == [0, 0, 0]


def test_other_datagrams_do_not_come_to_the_controller() -> None:
    network = Network()
    network.send(4)
    packet: Packet = Datagram(4747, 5001, DATA).packet(address(1), address(2))
    network.a.host.send(packet)
    network.carry()
    assert len(network.b.heard()) == 5
    assert not network.b.rig.edge.undecodable
