"""What counts as an answer to a probe: what nobody could say who did not see it, and by the provider's own link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv6Address

import dns.rcode
import pytest
from tracking.tracked_site import STRANGER, T1, Reply, TrackedSite, accepting, answering, genuine, site

from wayname.wire import icmpv6, ipv6, tcp, udp
from wayname.wire.ipv6 import Packet

TCP = f'track = [{{ address = "{T1}", probe = "tcp", port = 443 }}]'
DNS = f'track = [{{ address = "{T1}", probe = "dns", name = "www.example.org" }}]'
ECHO = f'track = ["{T1}"]'


def tracked(track: str) -> TrackedSite:
    there = TrackedSite(site(track))
    there.rig.advance(6)
    assert there.is_open("p") and not there.told("track.down")
    return there


def changed(body: Callable[[bytes], bytes]) -> Reply:
    """Answer an echo request with another body."""

    def reply(packet: Packet) -> Packet:
        message = icmpv6.Message.decode(packet)
        answer = icmpv6.Message(icmpv6.ECHO_REPLY, 0, body(message.body))
        return answer.packet(packet.destination, packet.source)

    return reply


def of_segment(change: Callable[[tcp.Segment], tcp.Segment]) -> Reply:
    """Answer a SYN with another segment."""

    def reply(packet: Packet) -> Packet:
        return change(accepting(tcp.Segment.decode(packet))).packet(packet.destination, packet.source)

    return reply


def of_datagram(change: Callable[[udp.Datagram], udp.Datagram]) -> Reply:
    """Answer a query with another datagram."""

    def reply(packet: Packet) -> Packet:
        return change(udp.Datagram.decode(answering(packet))).packet(packet.destination, packet.source)

    return reply


def by_stranger(packet: Packet) -> Packet:
    """Answer as the target would, as somebody else."""
    message = icmpv6.echo_reply(icmpv6.Message.decode(packet))
    return message.packet(IPv6Address(STRANGER), packet.source)


def lower(answer: udp.Datagram) -> udp.Datagram:
    """The letters of the question as nobody wrote them."""
    return replace(answer, data=answer.data[:12] + answer.data[12:].lower())


FORGED = {
    "another identifier": (ECHO, changed(lambda body: bytes([body[0] ^ 1]) + body[1:])),
    "another sequence number": (ECHO, changed(lambda body: body[:3] + bytes([body[3] ^ 1]) + body[4:])),
    "no mark": (ECHO, changed(lambda body: body[:4])),
    "another mark": (ECHO, changed(lambda body: body[:11] + bytes([body[11] ^ 1]))),
    "somebody else": (ECHO, by_stranger),
    "a request": (ECHO, lambda packet: replace(packet, source=packet.destination, destination=packet.source)),
    "another acknowledgement": (TCP, of_segment(lambda each: replace(each, acknowledgement=each.acknowledgement ^ 1))),
    "from another port": (TCP, of_segment(lambda each: replace(each, source_port=80))),
    "to another port": (TCP, of_segment(lambda each: replace(each, destination_port=each.destination_port ^ 1))),
    "no SYN": (TCP, of_segment(lambda each: replace(each, flags=tcp.ACK))),
    "another number": (DNS, of_datagram(lambda each: replace(each, data=bytes([each.data[0] ^ 1]) + each.data[1:]))),
    "to another UDP port": (DNS, of_datagram(lambda each: replace(each, destination_port=each.destination_port ^ 1))),
    "other letters": (DNS, of_datagram(lower)),
    "a query": (DNS, of_datagram(lambda each: replace(each, data=each.data[:2] + b"\1\0" + each.data[4:]))),
}


@pytest.mark.parametrize("forged", FORGED)
def test_forged_answers_hold_no_dead_provider_up(forged: str) -> None:
    track, reply = FORGED[forged]
    there = tracked(track)
    there.beyond["p", T1] = reply
    there.rig.advance(3)
    assert not there.is_open("p")
    assert there.rig.edge.tracking.providers["p"].unexpected >= 3, "and they are counted"


def test_malformed_answers_are_counted_and_nothing_else() -> None:
    for track in (ECHO, TCP, DNS):
        there = tracked(track)

        def cut_short(packet: Packet) -> Packet | None:
            answer = genuine(packet)
            return answer and replace(answer, payload=answer.payload[:-3])

        there.beyond["p", T1] = cut_short
        there.rig.advance(3)
        assert not there.is_open("p")
        assert sum(there.rig.edge.undecodable.values()) >= 3


def test_an_answer_by_another_providers_link_proves_nothing() -> None:
    there = tracked(ECHO)

    def by_q(packet: Packet) -> None:
        answer = genuine(packet)
        assert answer is not None
        there.rig.switch.inject(3, there.arriving("q", answer).encode(), int(there.rig.now * 1e9))

    there.beyond["p", T1] = by_q
    there.rig.advance(3)
    assert not there.is_open("p")
    assert there.rig.edge.tracking.providers["p"].unexpected >= 3


def test_a_connection_that_opens_is_reset() -> None:
    there = tracked(TCP)
    sent = [packet for by, packet in there.probes if by == "p" and packet.next_header == ipv6.TCP]
    segments = [tcp.Segment.decode(packet) for packet in sent]
    syns, resets = segments[0::2], segments[1::2]
    for syn, reset in zip(syns, resets, strict=False):
        assert (syn.flags, reset.flags) == (tcp.SYN, tcp.RST)
        assert reset.sequence == (syn.sequence + 1) % 2**32
        assert reset.source_port == syn.source_port
    assert len({(syn.source_port, syn.sequence) for syn in syns}) == len(syns) > 5


def test_a_refused_connection_and_a_failing_server_are_named() -> None:
    there = tracked(TCP)
    there.beyond["p", T1] = of_segment(lambda each: replace(each, flags=tcp.RST | tcp.ACK, sequence=0))
    there.rig.advance(3)
    [down] = there.told("track.down")
    assert f"TCP [{T1}]:443 refuses the connection" in down.text
    there = tracked(DNS)
    there.beyond["p", T1] = lambda packet: answering(packet, dns.rcode.SERVFAIL)
    there.rig.advance(3)
    [down] = there.told("track.down")
    assert f"DNS {T1} www.example.org. answers SERVFAIL" in down.text


def test_a_name_that_does_not_exist_is_an_answer() -> None:
    there = tracked(DNS)
    there.beyond["p", T1] = lambda packet: answering(packet, dns.rcode.NXDOMAIN)
    there.rig.advance(6)
    assert there.is_open("p")
