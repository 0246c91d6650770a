"""TCP connections that make their sessions themselves: what the switches saw of SYN, SYN-ACK and ACK."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from attacked_site import STRANGER
from looking import entries, kinds
from test_ilnp_lab import Traffic, agree, sessions_of
from test_ilnp_lab_attacks import FLOODED, a_syn, somebody

from wayname.edge.boundary import FlowAdmitted, Input, PacketIn
from wayname.ilnp.nonce import LONG_NONCE, with_nonce
from wayname.wire import icmpv6
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import DESTINATION_OPTIONS, HEADER_BYTES, Packet
from wayname.wire.mac import Mac
from wayname_lab.load import find_lab
from wayname_lab.model import LabIlnp
from wayname_lab.virtual.lab import VirtualLab

SESSION_REQUEST_REASON = 16
NOT_KNOWN = 2  # the code of an option that is not known (RFC 4443, section 3.4)


class Lab(VirtualLab):
    """The lab `ilnp` when it has started, and what its controllers heard."""

    def __init__(self, **wishes: object) -> None:
        described = find_lab("ilnp")
        super().__init__(replace(described, ilnp=replace(described.ilnp or LabIlnp(), **wishes)), seed=1)  # type: ignore[arg-type]
        self.heard: dict[str, list[Input]] = {"a": [], "b": []}
        self.run_until(1.5)
        for router, heard in self.heard.items():
            self._listen(router, heard)

    def _listen(self, router: str, heard: list[Input]) -> None:
        edge = self.controllers[router].edge
        assert edge is not None
        receive = edge.receive

        def listen(input: Input, now: float) -> None:
            heard.append(input)
            receive(input, now)

        edge.receive = listen  # type: ignore[method-assign]

    def admitted(self, router: str) -> list[FlowAdmitted]:
        """Return the flows that a switch told of."""
        return [told for told in self.heard[router] if isinstance(told, FlowAdmitted)]

    def requests(self) -> int:
        """How many messages about a session came to the controllers."""
        packets = (told for heard in self.heard.values() for told in heard if isinstance(told, PacketIn))
        return sum(packet.reason == SESSION_REQUEST_REASON for packet in packets)

    def fetch(self, source: str, destination: str, octets: int = 100_000) -> bool:
        """Whether a connection brings all that it should."""
        before = len(self.events_of(destination, "tcp_done"))
        to = str(self.plan.hosts[destination].address.ip)
        self.command(source, "tcp_send", to=to, port=5002, bytes=octets)
        self.run_for(1.5)
        return [done["intact"] for done in self.events_of(destination, "tcp_done")[before:]] == [True]


def test_a_connection_is_admitted_by_its_handshake_and_told_of_once() -> None:
    lab = Lab()
    lab.command("b1", "tcp_serve", port=5002)
    assert lab.fetch("a1", "b1")
    assert agree(lab) and lab.requests() == 0
    (here,), (there,) = lab.admitted("a"), lab.admitted("b")
    assert (here.opened_here, there.opened_here) == (True, False)
    assert (here.nonce_to_peer, here.nonce_from_peer) == (there.nonce_from_peer, there.nonce_to_peer)
    # The session stands: the next connection is in it from its first packet, and nobody is told.
    assert lab.fetch("a1", "b1")
    assert (len(lab.admitted("a")), len(lab.admitted("b"))) == (1, 1)


def test_connections_that_begin_side_by_side_are_of_one_session() -> None:
    lab = Lab()
    lab.command("b1", "tcp_serve", port=5002)
    to = str(lab.plan.hosts["b1"].address.ip)
    for _ in range(6):
        lab.command("a1", "tcp_send", to=to, port=5002, bytes=20_000)
    lab.run_for(0.9)
    # Nobody had to send a SYN again, which a stack does after a second.
    assert [done["intact"] for done in lab.events_of("b1", "tcp_done")] == [True] * 6
    assert agree(lab)
    assert [kinds(lab, router).count("session.up") for router in ("a", "b")] == [1, 1]


def test_a_connection_goes_on_when_a_provider_fails() -> None:
    lab = Lab()
    traffic = Traffic(lab, "a1", "b1")
    lab.run_for(1)
    assert agree(lab) and traffic.arrived(lab.now - 0.5) > 100_000
    lab.cut("a-p")
    lab.run_for(3)
    assert agree(lab) and traffic.arrived(lab.now - 0.5) > 100_000


def test_a_host_that_speaks_ilnp_itself_is_called() -> None:
    """It is told that nonces are taken, and answers with its own."""
    lab = Lab()
    lab.command("n1", "tcp_serve", port=5002)
    assert lab.fetch("a1", "n1")
    assert lab.requests() == 0
    assert len(sessions_of(lab, "n1")) == len(entries(lab, "a", "identities")) == len(lab.admitted("a")) == 1


@pytest.mark.parametrize("from_here", [False, True])
def test_a_flood_of_syns_makes_no_entry_and_keeps_no_connection_out(from_here: bool) -> None:
    lab, rng = Lab(), random.Random(1)
    for port in (FLOODED, 5002):
        # The flood fills the host's own room for half-open connections to that port.
        lab.command("b1", "tcp_serve", port=port)
    before = [entries(lab, router, "identities") for router in ("a", "b")]
    a1, b1 = (lab.plan.hosts[name].address.ip for name in ("a1", "b1"))
    for number in range(500):
        if from_here:
            syn = a_syn(rng, a1, b1, 1024 + number, counted=False)
            host = lab.plan.hosts["a1"]
            lab.switches["a"].receive(host.port, _framed(lab, "a", syn, Mac.parse(host.mac)))
        else:
            packet = with_nonce(a_syn(rng, somebody(rng), b1, 1024 + number), rng.randbytes(LONG_NONCE))
            lab.links["b-p"].receivers["b"](_framed(lab, "b", packet))
        if number % 50 == 0:
            lab.run_for(0.002)
    lab.run_for(0.3)
    assert [entries(lab, router, "identities") for router in ("a", "b")] == before == [[], []]
    assert lab.admitted("a") == lab.admitted("b") == []
    assert lab.fetch("a1", "b1")
    assert (len(lab.admitted("a")), len(lab.admitted("b")), lab.requests()) == (1, 1, 0)


def test_a_site_may_ask_for_each_session_by_messages() -> None:
    lab = Lab(tcp="request")
    lab.command("b1", "tcp_serve", port=5002)
    assert lab.fetch("a1", "b1")
    assert agree(lab) and lab.requests() > 0
    assert lab.admitted("a") == lab.admitted("b") == []


def test_a_peer_that_does_not_know_nonces_after_all() -> None:
    """It says so about the SYN, as any node does of an option that it does not know; the next SYN has none."""
    lab = Lab()
    lab.command("b1", "tcp_serve", port=5002)
    carry, syns = lab.links["a-p"].receivers["p"], []

    def answer(frame: bytes) -> None:
        packet = Packet.decode(Frame.decode(frame).payload)
        if packet.next_header != DESTINATION_OPTIONS:
            carry(frame)
            return
        syns.append(packet)
        body = (HEADER_BYTES + 2).to_bytes(4) + packet.encode()
        problem = icmpv6.Message(icmpv6.PARAMETER_PROBLEM, NOT_KNOWN, body)
        lab.links["a-p"].receivers["a"](_framed(lab, "a", problem.packet(packet.destination, packet.source)))

    lab.links["a-p"].connect("p", answer)
    since = lab.now
    to = str(lab.plan.hosts["b1"].address.ip)
    lab.command("a1", "tcp_send", to=to, port=5002, bytes=20_000)
    lab.run_for(3)
    assert len(syns) >= 1 and "ilnp.without" in kinds(lab, "a", since)
    assert [done["intact"] for done in lab.events_of("b1", "tcp_done")] == [True]


def _framed(lab: VirtualLab, router: str, packet: Packet, source: Mac = STRANGER) -> bytes:
    """Put a packet to a router, or through it, into a frame."""
    edge = lab.controllers[router].edge
    assert edge is not None
    vlan = next(host.vlan for host in lab.plan.hosts.values() if host.edge == router)
    if packet.next_header == DESTINATION_OPTIONS or packet.destination in _inside(lab, router):
        vlan = lab.plan.routers[router].port_to("p").vlan
    interface = edge.config.interface(vlan)
    assert interface is not None
    return Frame(interface.mac, source, TYPE_IPV6, packet.encode()).encode()


def _inside(lab: VirtualLab, router: str) -> set[object]:
    return {host.address.ip for host in lab.plan.hosts.values() if host.edge == router}
