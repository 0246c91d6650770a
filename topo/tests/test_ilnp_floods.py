"""Floods from sources that somebody forges, towards hosts that answer everything, and what they cost the edge: nothing.

The cache is small, so that anything which a flood takes of it shows, and so does a peer that is kept out.
"""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest
from attacked_site import AttackedSite
from looking import entries, kinds
from test_ilnp_lab_attacks import TABLES, TCP, a_syn, datagram, handshake, somebody

from wayname.edge.boundary import Input, PairActive
from wayname.ilnp.edge.manager import IlnpSessions
from wayname.ilnp.handshake import SESSION_REQUEST, Control, Handshake
from wayname.ilnp.nonce import LONG_NONCE, nonce_of, with_nonce
from wayname.nptv6 import PrefixMapping
from wayname.wire.checksum import upper_layer_checksum
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.icmpv6 import ECHO_REQUEST, Message
from wayname.wire.ipv6 import ICMPV6, UDP, Packet
from wayname.wire.mac import Mac
from wayname_lab.load import find_lab
from wayname_lab.virtual.lab import VirtualLab

CAPACITY = 40
HALF_OPEN = CAPACITY // 4
SOURCES = 300
RATIONED = 100
LONG = 1200  # octets of data: two such packets are more than an edge waits for by default
OPEN_UDP, CLOSED, OPEN_TCP, SINK = 5007, 5008, 5003, 5001
# Of all that the controller keeps, in octets: what a flood may leave behind.
MEMORY = 30_000
Flood = Callable[[random.Random, IPv6Address, IPv6Address], list[Packet]]


def ping(rng: random.Random, source: IPv6Address, host: IPv6Address) -> list[Packet]:
    """Return two long echo requests."""
    return [Message(ECHO_REQUEST, 0, bytes(4) + bytes(LONG)).packet(source, host)] * 2


def to_port(port: int, length: int = 8) -> Flood:
    """Return a flood of datagrams with nonces to a port."""

    def packets(rng: random.Random, source: IPv6Address, host: IPv6Address) -> list[Packet]:
        return [with_nonce(datagram(source, host, port, bytes(length)), rng.randbytes(LONG_NONCE))] * 2

    return packets


def syns(port: int, with_nonces: bool) -> Flood:
    """Return a flood of SYNs to a port."""

    def packets(rng: random.Random, source: IPv6Address, host: IPv6Address) -> list[Packet]:
        syn = a_syn(rng, source, host, rng.randrange(1024, 65536), with_nonces, port)
        if with_nonces:
            return [with_nonce(syn, rng.randbytes(LONG_NONCE))]
        checksum = upper_layer_checksum(source, host, TCP, syn.payload)
        return [replace(syn, payload=syn.payload[:16] + checksum.to_bytes(2) + syn.payload[18:])]

    return packets


def requests(rng: random.Random, source: IPv6Address, host: IPv6Address) -> list[Packet]:
    """Return a request for a session."""
    return [handshake(source, host, Handshake(Control.REQUEST, rng.randbytes(LONG_NONCE)))]


FLOODS: dict[str, Flood] = {
    "pings": ping,
    "datagrams to a closed port": to_port(CLOSED),
    "datagrams to a port that answers": to_port(OPEN_UDP, LONG),
    "SYNs with nonces to an open port": syns(OPEN_TCP, True),
    "SYNs with nonces to a closed port": syns(CLOSED, True),
    "SYNs to an open port": syns(OPEN_TCP, False),
    "SYNs to a closed port": syns(CLOSED, False),
    "requests for sessions": requests,
}


class Flooded(AttackedSite):
    """Two sites with one session, a1 with b1; a1 answers whatever comes to it."""

    def __init__(self, octets: int | None, provider: str = "p", configuration: str = "") -> None:
        described = find_lab("ilnp")
        assert described.ilnp is not None
        routers = tuple(
            replace(each, configuration=configuration) if each.name == "a" else each for each in described.routers
        )
        ilnp = replace(described.ilnp, bytes=octets, capacity=CAPACITY)
        super().__init__(VirtualLab(replace(described, routers=routers, ilnp=ilnp), seed=1), "a", provider)
        self.rng = random.Random(1)
        self.lab.run_until(1.0)
        self.a1, self.a2, self.b1, self.b2 = (self.lab.plan.hosts[name].address.ip for name in ("a1", "a2", "b1", "b2"))
        self.lab.command("a1", "udp_echo", port=OPEN_UDP)
        self.lab.command("a1", "tcp_serve", port=OPEN_TCP, service="echo")
        self.lab.command("a2", "udp_receive", port=SINK, interval=0.1)
        self.lab.command("b1", "udp_receive", port=SINK, interval=0.1)
        self.lab.command("a1", "udp_send", to=str(self.b1), port=SINK, rate=50, size=LONG)
        self.lab.run_for(0.5)
        edge = self.lab.controllers["a"].edge
        manager = edge.manager(IlnpSessions) if edge is not None else None
        assert edge is not None and manager is not None
        self.ilnp = manager
        self.active: list[PairActive] = []
        take = edge.receive

        def heard(input: Input, now: float) -> None:
            if isinstance(input, PairActive):
                self.active.append(input)
            take(input, now)

        edge.receive = heard  # type: ignore[method-assign]
        self.before = self.tables()
        assert [len(each) for each in self.before[:3]] == [1, 1, 1]

    def tables(self) -> list[list[dict[str, int]]]:
        """Return what the switch of site a holds of sessions."""
        return [entries(self.lab, "a", table) for table in TABLES]

    def flood(self, flood: Flood) -> list[IPv6Address]:
        """Let it come from many sources; return them."""
        sources = [somebody(self.rng) for _ in range(SOURCES)]
        for source in sources:
            for packet in flood(self.rng, source, self.a1):
                self.send(packet)
        return sources

    def asked(self, sources: list[IPv6Address]) -> int:
        """How many requests for a session left to them."""
        packets = (Packet.decode(frame[14:]) for frame in self.sent if frame[12:14] == TYPE_IPV6.to_bytes(2))
        towards = [packet for packet in packets if packet.destination in set(sources)]
        return sum(_control(packet) is Control.REQUEST for packet in towards)

    def lets_in(self, name: str = "b2") -> bool:
        """Whether a host elsewhere that asks for a session with one here gets it."""
        self.lab.command(name, "udp_send", to=str(self.a2), port=SINK, rate=50, size=LONG)
        self.lab.run_for(0.5)
        local = {each["key_local"] for each in entries(self.lab, "a", "identities")}
        return int(self.a2) in local


def _control(packet: Packet) -> Control | None:
    upper = packet.upper_layer()
    if upper.number != ICMPV6 or upper.data[0] != SESSION_REQUEST or nonce_of(packet) is None:
        return None
    return Handshake.decode(upper.data[1], upper.data[4:]).control


@pytest.mark.parametrize("octets", [1, None], ids=["asked at once", "asked after 2048 octets"])
@pytest.mark.parametrize("name", FLOODS)
def test_hosts_that_answer_everything_cost_no_place_no_entry_and_no_request(name: str, octets: int | None) -> None:
    site = Flooded(octets)
    answers = len(site.sent)
    sources = site.flood(FLOODS[name])
    site.lab.run_for(0.3)
    # What the edge answers itself is rationed by the port's share, too.
    least = RATIONED if FLOODS[name] is requests else SOURCES
    assert len(site.sent) - answers >= least, "the host, or the edge, answers all of them"
    assert (site.ilnp.places, site.tables()) == (1, site.before)
    assert (site.asked(sources), site.active) == (0, [])
    assert site.lets_in()
    site.lab.run_for(20)
    assert site.asked(sources) == 0
    # Those two, and what b2 asked for.
    assert site.ilnp.places <= 2


def test_who_is_asked_by_a_translated_address_answers_all_the_same() -> None:
    inside = IPv6Network("2001:db8:101::/48")
    # The border would drop all of it.
    site = Flooded(1, "q", f'[[nptv6]]\ninside = "{inside}"\n[simple_security]\nenabled = false\n')
    outside = PrefixMapping(inside, IPv6Network("2001:db8:201::/48")).out(site.a1)
    for _ in range(100):
        source = somebody(site.rng)
        bare = datagram(source, outside, OPEN_UDP).payload
        checksum = upper_layer_checksum(source, outside, UDP, bare[:6] + bytes(2) + bare[8:])
        site.send(Packet(source, outside, UDP, bare[:6] + checksum.to_bytes(2) + bare[8:]))
    site.lab.run_for(0.1)
    answers = [frame for frame in site.sent if frame[22:38] == outside.packed]
    assert len(answers) >= 100, "translated once more on their way back"
    assert (site.active, site.ilnp.places) == ([], 1)


@pytest.mark.parametrize("name", FLOODS)
def test_floods_leave_no_memory_behind_in_the_controller(name: str) -> None:
    site = Flooded(1)
    site.flood(FLOODS[name])
    kept = [tracemalloc.Filter(True, f"*/wayname/{room}/*") for room in ("ilnp", "edge", "wire")]
    tracemalloc.start()
    try:
        before = tracemalloc.take_snapshot().filter_traces(kept)
        site.flood(FLOODS[name])
        site.lab.events.clear()
        grown = tracemalloc.take_snapshot().filter_traces(kept).compare_to(before, "filename")
    finally:
        tracemalloc.stop()
    assert sum(each.size_diff for each in grown) < MEMORY


def test_a_host_that_asks_for_everybody_takes_a_part_of_the_places_and_keeps_nobody_out() -> None:
    site = Flooded(1)
    port = site.lab.plan.hosts["a1"].port
    router = site.lab.controllers["a"].edge
    assert router is not None
    interface = router.config.interfaces[0]
    asked = [somebody(site.rng) for _ in range(SOURCES)]
    most = 0
    for destination in asked:
        packet = datagram(site.a1, destination, CLOSED)
        frame = Frame(interface.mac, Mac.parse(site.lab.plan.hosts["a1"].mac), TYPE_IPV6, packet.encode())
        site.lab.switches["a"].receive(port, frame.encode())
        site.lab.run_for(0.001)
        most = max(most, site.ilnp.places)
    assert most == 1 + HALF_OPEN
    # A port's pairs are told of at a rate.
    assert len(site.active) > 0.5 * SOURCES and all(each.opened_here for each in site.active)
    assert site.tables() == site.before
    assert "ilnp.half_open" in kinds(site.lab, "a")
    assert site.lets_in()


def test_sessions_that_others_ask_for_are_let_in_until_the_policy_says_no() -> None:
    site = Flooded(1)
    asked = 0
    for _ in range(SOURCES):
        source, nonce = somebody(site.rng), site.rng.randbytes(LONG_NONCE)
        site.send(handshake(source, site.a1, Handshake(Control.REQUEST, nonce)))
        site.lab.run_for(0.02)
        packets = [Packet.decode(frame[14:]) for frame in site.sent[-9:] if frame[12:14] == TYPE_IPV6.to_bytes(2)]
        answers = [packet for packet in packets if packet.destination == source]
        if not answers:
            continue
        asked += 1
        given = Handshake.decode(0, answers[-1].upper_layer().data[4:]).source_nonce
        site.send(handshake(source, site.a1, Handshake(Control.ACKNOWLEDGE, nonce, given)))
    most = site.ilnp.rules.policies.count
    assert (site.ilnp.places, len(entries(site.lab, "a", "ilnp_nonces"))) == (most, most)
    assert most < CAPACITY and asked == most - 1
    # What is left is for what hosts here ask for.
    site.lab.command("a2", "udp_send", to=str(site.b2), port=SINK, rate=50)
    site.lab.run_for(0.5)
    assert site.ilnp.places == most + 1
