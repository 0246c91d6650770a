"""Probes of a target, and what answers them.

What is asked and where it comes from is drawn anew for each probe, so that nobody who does not see it can answer: the
identifier, sequence number and 8 octets of an echo request; the port and the initial sequence number of a connection;
the port, the number and the case of letters of a DNS query (RFC 5452, section 9).
"""

from __future__ import annotations

import random
import string
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Protocol

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype

from wayname.config.track import ProbeKind, TrackTarget
from wayname.wire import icmpv6, ipv6, tcp, udp
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import Packet

MARK_OCTETS = 8
FIRST_PORT, LAST_PORT = 1024, 65535
SEQUENCE_NUMBERS = 1 << 32
LETTERS = frozenset(string.ascii_letters.encode())
OTHER_CASE = 0x20
# A server that answers so knows nothing of the name, and works.
WORKING = frozenset((dns.rcode.NOERROR, dns.rcode.NXDOMAIN))


@dataclass(frozen=True, slots=True)
class Answer:
    """What came for a probe: why it is none, in words, and what is sent back."""

    refusal: str = ""
    reply: Packet | None = None


class Probe(Protocol):
    """A packet to a target, and how its answer is known."""

    @property
    def packet(self) -> Packet:
        """What is sent."""

    def answered(self, arrived: Packet) -> Answer | None:
        """Return what a packet from the target says; None if it answers something else, or is malformed."""


@dataclass(frozen=True, slots=True)
class EchoProbe:
    """An echo request."""

    packet: Packet
    body: bytes

    def answered(self, arrived: Packet) -> Answer | None:
        """Return what a packet from the target says."""
        if arrived.next_header != ipv6.ICMPV6:
            return None
        message = icmpv6.Message.decode(arrived)
        return Answer() if (message.type, message.body) == (icmpv6.ECHO_REPLY, self.body) else None


@dataclass(frozen=True, slots=True)
class TcpProbe:
    """A SYN; what it opens is reset."""

    packet: Packet
    sent: tcp.Segment

    def answered(self, arrived: Packet) -> Answer | None:
        """Return what a packet from the target says."""
        if arrived.next_header != ipv6.TCP:
            return None
        got = tcp.Segment.decode(arrived)
        ours = (self.sent.destination_port, self.sent.source_port)
        next_sequence = (self.sent.sequence + 1) % SEQUENCE_NUMBERS
        if (got.source_port, got.destination_port) != ours or got.acknowledgement != next_sequence:
            return None
        if got.flags & tcp.RST and got.flags & tcp.ACK:
            return Answer("refuses the connection")
        if not (got.flags & tcp.SYN and got.flags & tcp.ACK):
            return None
        reset = tcp.Segment(self.sent.source_port, self.sent.destination_port, next_sequence, 0, tcp.RST)
        return Answer(reply=reset.packet(self.packet.source, self.packet.destination))


@dataclass(frozen=True, slots=True)
class DnsProbe:
    """A query of a name."""

    packet: Packet
    sent: udp.Datagram
    query: dns.message.Message

    def answered(self, arrived: Packet) -> Answer | None:
        """Return what a packet from the target says."""
        if arrived.next_header != ipv6.UDP:
            return None
        got = udp.Datagram.decode(arrived)
        if (got.source_port, got.destination_port) != (self.sent.destination_port, self.sent.source_port):
            return None
        try:
            response = dns.message.from_wire(got.data, ignore_trailing=True)
        except dns.exception.DNSException as error:
            raise DecodeError("no DNS message") from error
        asked = [each.name.labels for each in self.query.question]
        if not self.query.is_response(response) or [each.name.labels for each in response.question] != asked:
            return None
        code = response.rcode()
        return Answer() if code in WORKING else Answer(f"answers {dns.rcode.to_text(code)}")


def new_probe(target: TrackTarget, source: IPv6Address, rng: random.Random) -> Probe:
    """Return a probe of a target that nobody else can answer."""
    match target.probe:
        case ProbeKind.TCP:
            return _tcp(target, source, rng)
        case ProbeKind.DNS:
            return _dns(target, source, rng)
    body = rng.randbytes(4 + MARK_OCTETS)
    return EchoProbe(icmpv6.Message(icmpv6.ECHO_REQUEST, 0, body).packet(source, target.address), body)


def _tcp(target: TrackTarget, source: IPv6Address, rng: random.Random) -> TcpProbe:
    assert target.port is not None
    sequence = rng.randrange(SEQUENCE_NUMBERS)
    syn = tcp.Segment(rng.randint(FIRST_PORT, LAST_PORT), target.port, sequence, 0, tcp.SYN, window=0xFFFF)
    return TcpProbe(syn.packet(source, target.address), syn)


def _dns(target: TrackTarget, source: IPv6Address, rng: random.Random) -> DnsProbe:
    assert target.name is not None
    query = dns.message.make_query(target.name, dns.rdatatype.AAAA)
    query.id = rng.getrandbits(16)
    [question] = query.question
    labels = (bytes(_in_random_case(octet, rng) for octet in label) for label in question.name.labels)
    question.name = dns.name.Name(labels)
    asked = udp.Datagram(rng.randint(FIRST_PORT, LAST_PORT), target.dns_port, query.to_wire())
    return DnsProbe(asked.packet(source, target.address), asked, query)


def _in_random_case(octet: int, rng: random.Random) -> int:
    return octet ^ OTHER_CASE if octet in LETTERS and rng.getrandbits(1) else octet
