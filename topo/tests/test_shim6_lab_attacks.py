"""What others may try against sessions of Shim6: with the tables, the controller and the hosts of a lab."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from attacked_site import AttackedSite, keeping
from looking import entries, kinds
from site_pair import agrees, answered, longest_silence, talking

from wayname.wire import icmpv6
from wayname.wire.checksum import upper_layer_checksum
from wayname.wire.ipv6 import SHIM6, UDP, Packet
from wayname.wire.shim6.messages import I1, I2, R2, Message, MessageType, UpdateRequest, decode, encode
from wayname.wire.shim6.options import Locator, LocatorList, ResponderValidator, UlidPair, Verification

# Somewhere behind provider p, where nobody of the lab is.
ELSEWHERE = IPv6Address("2001:db8:177:10::66")
TABLES = ("identities", "paths", "backups", "context_tags", "locator_pairs")
PAYLOAD_KIND = 0x80
ETHERNET_BYTES = 14


class Attacked(AttackedSite):
    """Two sites with one session, a1 with b1, and somebody at provider p who saw how it was set up."""

    def __init__(self, site: str) -> None:
        super().__init__(talking(), site, "p")
        self.lab.run_for(3)
        assert agrees(self.lab)
        other = "b" if site == "a" else "a"
        self.host, self.peer = (self.lab.plan.hosts[f"{each}1"].address.ip for each in (site, other))
        [context] = entries(self.lab, site, "context_tags")
        self.tag = context["key_tag"]
        self.before = self.tables()
        self.since = self.lab.now

    def tables(self) -> list[list[dict[str, int]]]:
        """Return what the site's switch holds of sessions."""
        return [entries(self.lab, self.site, table) for table in TABLES]

    def heard_messages(self, kind: MessageType) -> list[bytes]:
        """Return the frames with a message of a kind that came from provider p."""
        packets = [(frame, Packet.decode(frame[ETHERNET_BYTES:])) for frame in self.heard]
        return [frame for frame, packet in packets if packet.next_header == SHIM6 and packet.payload[2] == kind]

    def message(self, message: Message, source: IPv6Address | None = None) -> Packet:
        """Return a message to the site's host, from its peer unless from elsewhere."""
        return Packet(source or self.peer, self.host, SHIM6, encode(message))

    def is_untouched(self, seconds: float = 1.0) -> bool:
        """Whether the session stands as it did, nobody else has one, and the hosts still talk."""
        self.lab.run_for(seconds)
        talks = answered(self.lab, self.lab.now - 0.9) >= 8 and longest_silence(self.lab, self.since) < 0.3
        moved = [kind for kind in kinds(self.lab, self.site, self.since) if kind.startswith("session.")]
        return self.tables() == self.before and talks and not moved


@pytest.mark.parametrize(("site", "kind"), [("b", MessageType.I2), ("a", MessageType.R2)])
def test_what_set_the_session_up_changes_nothing_when_it_passes_again(site: str, kind: MessageType) -> None:
    attacked = Attacked(site)
    [frame] = attacked.heard_messages(kind)
    assert isinstance(decode(Packet.decode(frame[ETHERNET_BYTES:]).payload), I2 | R2)
    for _ in range(20):
        attacked.again(frame)
    assert attacked.is_untouched()


def test_a_stolen_tag_gets_nothing_to_the_host_from_elsewhere() -> None:
    attacked = Attacked("a")
    arrived: list[bytes] = []
    link = attacked.lab.links["a-a1"]
    link.connect("a1", keeping(arrived, link.receivers["a1"]))
    datagram = (4000).to_bytes(2) + (5009).to_bytes(2) + (16).to_bytes(2) + bytes(2) + b"attacked"
    header = bytes((UDP, 0)) + (PAYLOAD_KIND << 40 | attacked.tag).to_bytes(6)
    for _ in range(20):
        attacked.send(Packet(ELSEWHERE, attacked.host, SHIM6, header + datagram))
    assert attacked.is_untouched()
    assert arrived
    assert not any(b"attacked" in frame for frame in arrived)


@pytest.mark.parametrize("knows_tag", [False, True])
def test_an_update_with_locators_that_nothing_proves_moves_nothing(knows_tag: bool) -> None:
    attacked = Attacked("a")
    forged = LocatorList(9, (Locator(attacked.peer, Verification.HBA), Locator(ELSEWHERE, Verification.HBA)))
    request = UpdateRequest(attacked.tag if knows_tag else attacked.tag ^ 1, 7, (forged,))
    for source in (attacked.peer, ELSEWHERE):
        attacked.send(attacked.message(request, source))
    assert attacked.is_untouched()
    assert int(ELSEWHERE) not in {entry["source"] for entry in entries(attacked.lab, "a", "paths") if "tag" in entry}


def test_floods_of_i1_and_of_bad_i2_leave_nothing_and_keep_nobody_out() -> None:
    attacked = Attacked("a")
    for number in range(300):
        source = IPv6Address(int(ELSEWHERE) + number)
        attacked.send(attacked.message(I1(number, number), source))
        bad = I2(number, number, number, (ResponderValidator(number.to_bytes(16)),))
        attacked.send(attacked.message(bad, source))
    assert attacked.is_untouched()


@pytest.mark.parametrize("kind", [icmpv6.UNREACHABLE, icmpv6.TIME_EXCEEDED, icmpv6.PARAMETER_PROBLEM])
def test_spoofed_icmp_errors_move_nothing(kind: int) -> None:
    attacked = Attacked("a")
    # The best that somebody may know: a packet that the edge could have sent, with the tag that it uses.
    first = next(entry for entry in entries(attacked.lab, "a", "paths") if "tag" in entry)
    payload = bytes((UDP, 0)) + (PAYLOAD_KIND << 40 | first["tag"]).to_bytes(6) + bytes(40)
    for source, destination in ((first["source"], first["destination"]), (int(attacked.host), int(attacked.peer))):
        quoted = Packet(IPv6Address(source), IPv6Address(destination), SHIM6, payload)
        error = icmpv6.Message(kind, 1, bytes(4) + quoted.encode())
        for _ in range(20):
            attacked.send(error.packet(ELSEWHERE, quoted.source))
    # Doubtful signs are looked into, and what is looked into answers.
    assert attacked.is_untouched(seconds=3.0)


def test_an_i1_in_the_peers_name_does_not_learn_the_tag() -> None:
    attacked = Attacked("a")
    before = len(attacked.sent)
    attacked.send(attacked.message(I1(5, 5, (UlidPair(attacked.peer, attacked.host),)), ELSEWHERE))
    attacked.lab.run_for(0.1)
    answers = [frame for frame in attacked.sent[before:] if ELSEWHERE.packed in frame]
    assert len(answers) == 1
    assert attacked.tag.to_bytes(6) not in answers[0]
    assert attacked.is_untouched()


@pytest.mark.parametrize("asked", ["ping", "datagram"])
def test_hosts_that_answer_whoever_make_the_edge_ask_nobody(asked: str) -> None:
    attacked = Attacked("a")
    attacked.sent.clear()
    attacked.lab.command("a1", "udp_echo", port=5007)
    for number in range(1, 200):
        source = IPv6Address(int(ELSEWHERE) + number)
        datagram = (4000).to_bytes(2) + (5007).to_bytes(2) + (1208).to_bytes(2) + bytes(2 + 1200)
        checksum = upper_layer_checksum(source, attacked.host, UDP, datagram)
        packet = Packet(source, attacked.host, UDP, datagram[:6] + checksum.to_bytes(2) + datagram[8:])
        if asked == "ping":
            packet = icmpv6.Message(icmpv6.ECHO_REQUEST, 0, bytes(1204)).packet(source, attacked.host)
        for _ in range(2):
            attacked.send(packet)
    assert attacked.is_untouched(5.0)
    towards = [Packet.decode(frame[ETHERNET_BYTES:]) for frame in attacked.sent if frame[12:14] == b"\x86\xdd"]
    forged = [packet for packet in towards if 0 < int(packet.destination) - int(ELSEWHERE) < 200]
    assert len([packet for packet in forged if packet.next_header != SHIM6]) > 200, "the host answers them"
    assert [packet for packet in forged if packet.next_header == SHIM6] == []
