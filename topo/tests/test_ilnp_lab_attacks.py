"""What others may try against sessions between identifiers: with the tables, the controller and the hosts of a lab."""

from __future__ import annotations

import random
from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from attacked_site import AttackedSite
from looking import entries, kinds

from wayname.ilnp.checksums import identifiers_checksum
from wayname.ilnp.edge.manager import IlnpSessions
from wayname.ilnp.handshake import SESSION_REQUEST, Control, Handshake
from wayname.ilnp.locator_update import LOCATOR_UPDATE, Listed, LocatorUpdate, Operation
from wayname.ilnp.nonce import LONG_NONCE, SHORT_NONCE, with_nonce
from wayname.ilnp.vectors import L64, NID, Vector
from wayname.wire.icmpv6 import Message
from wayname.wire.ipv6 import UDP, Packet
from wayname_lab.load import find_lab
from wayname_lab.virtual.clock import SECOND
from wayname_lab.virtual.lab import VirtualLab

TCP = 6
SYN, ACK = 0x02, 0x10
FLOODED = 5003
# Somewhere behind provider p, where nobody of the lab is.
ELSEWHERE = L64(0x2001_0DB8_0177_0010)
TABLES = ("identities", "paths", "ilnp_nonces", "locator_pairs")


class Attacked(AttackedSite):
    """Two sites with one session, a1 with b1, and somebody at provider p who sends to site a what he likes."""

    def __init__(self, naive: bool = False) -> None:
        described = find_lab("ilnp")
        assert described.ilnp is not None
        lab = VirtualLab(replace(described, ilnp=replace(described.ilnp, idle=2 * SECOND, naive=naive)), seed=1)
        super().__init__(lab, "a", "p")
        self.rng = random.Random(1)
        self.lab.run_until(1.0)
        self.a1, self.b1 = (self.lab.plan.hosts[name].address.ip for name in ("a1", "b1"))
        self.lab.command("b1", "udp_receive", port=5001, interval=0.1)
        self.flow = self.lab.command("a1", "udp_send", to=str(self.b1), port=5001, rate=50)
        self.lab.run_for(0.5)
        self.before = self.tables()
        assert [len(each) for each in self.before[:3]] == [1, 1, 1]

    def tables(self) -> list[list[dict[str, int]]]:
        """Return what the switch of site a holds of sessions."""
        return [entries(self.lab, "a", table) for table in TABLES]

    def told(self, since: float) -> set[str]:
        """Return the kinds of what the controller of site a told of ILNP."""
        return {kind for kind in kinds(self.lab, "a", since) if kind.startswith("ilnp.")}

    def is_untouched(self) -> bool:
        """Whether the session stands as it did, nobody else has one, and the hosts still talk."""
        self.lab.run_for(0.3)
        report = self.lab.events_of("b1", "udp_report")[-1]
        return self.tables() == self.before and report["lost"] == 0 and report["longest_gap_ns"] < 40_000_000


def datagram(source: IPv6Address, destination: IPv6Address, port: int = 5009, data: bytes = b"attacked") -> Packet:
    """Return a datagram with a checksum over identifiers, as ILNP has it."""
    head = (4000).to_bytes(2) + port.to_bytes(2) + (8 + len(data)).to_bytes(2)
    checksum = identifiers_checksum(source, destination, UDP, head + bytes(2) + data)
    return Packet(source, destination, UDP, head + checksum.to_bytes(2) + data)


def handshake(source: IPv6Address, destination: IPv6Address, message: Handshake) -> Packet:
    """Return one of the three messages."""
    packet = Message(SESSION_REQUEST, 0, message.encode()).packet(source, destination)
    return with_nonce(packet, message.source_nonce)


def update(source: IPv6Address, destination: IPv6Address) -> Packet:
    """Return a Locator Update that wants all packets elsewhere, without a nonce."""
    body = LocatorUpdate(Operation.ADVERTISEMENT, (Listed(ELSEWHERE, 1, 300),)).encode()
    return Message(LOCATOR_UPDATE, 0, body).packet(source, destination)


def somebody(rng: random.Random) -> IPv6Address:
    """Return somebody's address elsewhere."""
    return Vector(ELSEWHERE, NID(rng.getrandbits(64) | 1)).address


def a_syn(
    rng: random.Random,
    source: IPv6Address,
    destination: IPv6Address,
    port: int,
    counted: bool = True,
    to: int = FLOODED,
) -> Packet:
    """Return a SYN, of which ILNP's checksum counts identifiers only; an ordinary host's is let be wrong."""
    segment = port.to_bytes(2) + to.to_bytes(2) + rng.randbytes(4) + bytes(4)
    segment += bytes([5 << 4, SYN]) + (65535).to_bytes(2) + bytes(4)
    checksum = identifiers_checksum(source, destination, TCP, segment) if counted else 0
    return Packet(source, destination, TCP, segment[:16] + checksum.to_bytes(2) + segment[18:])


@pytest.mark.parametrize("octets", [SHORT_NONCE, LONG_NONCE])
def test_guessed_nonces_get_nothing_to_a_host_in_the_name_of_its_peer(octets: int) -> None:
    site = Attacked()
    since = site.lab.now
    arrived: list[bytes] = []
    site.lab.links["a-a1"].connect("reader", arrived.append)
    for _ in range(200):
        site.send(with_nonce(datagram(site.b1, site.a1), site.rng.randbytes(octets)))
    assert site.is_untouched()
    assert not [frame for frame in arrived if frame.endswith(b"attacked")]
    assert site.told(since) == set()
    # Whoever knows the nonce gets there.
    nonces = {entry["key_nonce"] for entry in entries(site.lab, "a", "ilnp_nonces")} - {0}
    for nonce in nonces:
        for length in (SHORT_NONCE, LONG_NONCE):
            if nonce < 1 << 8 * length:
                site.send(with_nonce(datagram(site.b1, site.a1), nonce.to_bytes(length)))
    site.lab.run_for(0.3)
    assert [frame for frame in arrived if frame.endswith(b"attacked")]


@pytest.mark.parametrize("at_home", [True, False])
def test_a_forged_locator_update_moves_nothing(at_home: bool) -> None:
    site = Attacked()
    since = site.lab.now
    source = site.b1 if at_home else Vector(ELSEWHERE, Vector.of(site.b1).nid).address
    site.send(update(source, site.a1))
    for _ in range(50):
        site.send(with_nonce(update(source, site.a1), site.rng.randbytes(LONG_NONCE)))
    assert site.is_untouched()
    assert site.told(since) == {"ilnp.forged"}


def test_what_passed_once_makes_nothing_when_it_passes_again() -> None:
    site = Attacked()
    since = site.lab.now
    # Ethernet, IPv6, the nonce, and then the type.
    at = 14 + 40 + 16
    messages = [frame for frame in site.heard if frame[at : at + 1] in (b"\xa0", b"\x9c") and frame[20] == 60]
    assert len(messages) >= 2
    for frame in messages * 3:
        site.again(frame)
    assert site.is_untouched()
    assert site.told(since) <= {"ilnp.forged", "ilnp.protocol", "ilnp.dropped", "ilnp.replayed"}
    # Neither when the session is over.
    site.lab.hosts["a1"].command({"command": "stop", "flow": site.flow})
    site.lab.run_for(3)
    assert entries(site.lab, "a", "ilnp_nonces") == []
    for frame in messages * 3:
        site.again(frame)
    assert entries(site.lab, "a", "ilnp_nonces") == []


def test_a_flood_of_requests_leaves_nothing_and_keeps_nobody_out() -> None:
    site = Attacked()
    since = site.lab.now
    edge = site.lab.controllers["a"].edge
    ilnp = edge.manager(IlnpSessions) if edge is not None else None
    assert ilnp is not None
    places = ilnp.places
    for number in range(300):
        nonce = site.rng.randbytes(LONG_NONCE)
        site.send(handshake(somebody(site.rng), site.a1, Handshake(Control.REQUEST, nonce)))
        if number == 100:
            # A host that nobody knew until now.
            to = str(site.lab.plan.hosts["a2"].address.ip)
            site.lab.command("a2", "udp_receive", port=5001)
            site.lab.command("b2", "udp_send", to=to, port=5001, rate=50)
    assert (ilnp.places, len(entries(site.lab, "a", "ilnp_nonces"))) == (places + 1, 2)
    assert kinds(site.lab, "a", since).count("session.up") == 1


def test_a_flood_of_syns_leaves_nothing() -> None:
    site = Attacked()
    since = site.lab.now
    site.lab.command("a1", "tcp_serve", port=FLOODED)
    for port in range(1024, 1324):
        site.send(with_nonce(a_syn(site.rng, somebody(site.rng), site.a1, port), site.rng.randbytes(LONG_NONCE)))
    assert site.is_untouched()
    assert "session.up" not in kinds(site.lab, "a", since)


def test_an_identifier_that_stands_is_claimed_from_another_site_in_vain() -> None:
    site = Attacked()
    since = site.lab.now
    claimed = Vector(ELSEWHERE, Vector.of(site.b1).nid).address
    nonce = site.rng.randbytes(LONG_NONCE)
    site.send(handshake(claimed, site.a1, Handshake(Control.REQUEST, nonce)))
    assert site.told(since) == {"ilnp.claimed"}
    assert site.is_untouched()


def test_an_identifier_of_a_host_here_is_claimed_from_elsewhere_in_vain() -> None:
    site = Attacked()
    since = site.lab.now
    claimed = Vector(ELSEWHERE, Vector.of(site.a1).nid).address
    a2 = site.lab.plan.hosts["a2"].address.ip
    site.send(handshake(claimed, a2, Handshake(Control.REQUEST, site.rng.randbytes(LONG_NONCE))))
    # Whether there is a host with that address has to be found out first.
    site.lab.run_for(0.1)
    assert site.told(since) == {"ilnp.claimed"}
    assert site.is_untouched()
