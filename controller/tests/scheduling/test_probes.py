"""Probes: what leaves, and what of all that comes back is believed."""

from __future__ import annotations

import random
from dataclasses import replace
from ipaddress import IPv6Address

import pytest

from wayname.config.schedules import PROBED_WORDS, Probe
from wayname.edge.boundary import PacketOut
from wayname.edge.outputs import Outputs
from wayname.edge.punt_limits import PATH_PROBES_SENT
from wayname.ioam.options import ACTIVE, TraceOption, hop_by_hop, trace_in
from wayname.ioam.path_metrics import PathId
from wayname.p4_constants import CPU_PORT, PacketOutKind
from wayname.session.scheduling.probes import EVERY, PATIENCE, SHARE, Probes
from wayname.wire import ipv6
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import Frame
from wayname.wire.segments import SegmentHeader

HERE, SEGMENT = IPv6Address("2001:db8:101:10::1"), IPv6Address("2001:db8:102:5e::1")
PROBE = Probe(HERE, SEGMENT, PathId(1, (0xA, 1, 0xB)))
OTHER = Probe(IPv6Address("2001:db8:201:10::1"), IPv6Address("2001:db8:202:5e::1"), PathId(1, (0xA, 2, 0xB)))
FAST = 1e9


class Sent:
    """Probes of an edge, and what it sent."""

    def __init__(self, bandwidths: dict[Probe, float] | None = None) -> None:
        self.outputs = Outputs()
        self.outputs.connected = True
        self.probes = Probes(bandwidths or {PROBE: FAST}, (10,), 7, self.outputs, random.Random(1))
        self.probes.start(10.0)

    def at(self, now: float) -> list[ipv6.Packet]:
        """Return what is sent when it is that late."""
        self.probes.handle_timer(now)
        packets = [each for each in self.outputs.take() if isinstance(each, PacketOut)]
        assert all((each.kind, each.port) == (PacketOutKind.SUBMIT, CPU_PORT) for each in packets)
        return [ipv6.Packet.decode(Frame.decode(each.payload).payload) for each in packets]


def written(packet: ipv6.Packet, *nodes: int) -> ipv6.Packet:
    """Return a probe as it comes back when these nodes have written into it."""
    trace, upper = trace_in(packet.payload), packet.upper_layer()
    assert trace is not None
    data = b"".join(
        bytes([60]) + node.to_bytes(3) + bytes([0, 0, 0, 9]) + (1000 * place).to_bytes(4) + bytes(8)
        for place, node in reversed(list(enumerate(nodes)))
    )
    left = trace.words_left - PROBED_WORDS * len(nodes)
    full = replace(trace, words_left=left, data=bytes(4 * left) + data)
    segments = SegmentHeader(0, (HERE, SEGMENT)).encode(59)
    payload = hop_by_hop(ipv6.ROUTING, full.encode()) + segments + upper.data
    return replace(packet, destination=packet.source, payload=payload)


def test_a_probe_has_room_for_the_way_there_and_leads_back() -> None:
    [packet] = Sent().at(10.0)
    assert (packet.source, packet.destination, packet.next_header) == (HERE, SEGMENT, ipv6.HOP_BY_HOP)
    trace = trace_in(packet.payload)
    assert trace == TraceOption(1, PROBED_WORDS, ACTIVE, 15, 0b1011_1010 << 16, bytes(60))
    assert SegmentHeader.find(packet) == SegmentHeader(1, (HERE, SEGMENT))
    assert (packet.upper_layer().number, len(packet.upper_layer().data)) == (59, 16)


def test_every_probe_has_another_nonce() -> None:
    sent = Sent()
    assert len({sent.at(10.0 + number * EVERY)[0].payload for number in range(9)}) == 9


def test_what_comes_back_is_measured() -> None:
    sent = Sent()
    [packet] = sent.at(10.0)
    assert sent.probes.returned(written(packet, 0xA, 1, 0xB), 10.05)
    [(probe, trips)] = sent.probes.trips(10.1)
    assert (probe, trips.there.delay.last, trips.both.last) == (PROBE, 2_000_000, 50_000_000)


def test_it_may_come_back_in_a_tunnel_of_the_peer() -> None:
    sent = Sent()
    [packet] = sent.at(10.0)
    inside = written(packet, 0xA, 1, 0xB).encode()
    assert sent.probes.returned(ipv6.Packet(SEGMENT, HERE, 41, inside), 10.05)
    assert sent.probes.answers[PROBE].came == 1


def test_the_same_counts_once() -> None:
    sent = Sent()
    [packet] = sent.at(10.0)
    back = written(packet, 0xA, 1, 0xB)
    assert [sent.probes.returned(back, now) for now in (10.05, 10.06, 12.0)] == [True, False, False]
    [(_, trips)] = sent.probes.trips(13.0)
    assert (trips.there.count, trips.both.last) == (1, 50_000_000)


@pytest.mark.parametrize("nonce", [b"", bytes(16), bytes(15), bytes(300)])
def test_nobody_is_believed_who_does_not_know_the_nonce(nonce: bytes) -> None:
    sent = Sent()
    [packet] = sent.at(10.0)
    back = written(packet, 0xA, 1, 0xB)
    forged = replace(back, payload=back.payload[:-16] + nonce)
    assert not sent.probes.returned(forged, 10.05)
    assert not list(sent.probes.trips(10.1))
    # And the true one still counts.
    assert sent.probes.returned(back, 10.05)


def test_what_comes_too_late_or_before_a_restart_does_not_count() -> None:
    sent = Sent()
    [packet] = sent.at(10.0)
    back = written(packet, 0xA, 1, 0xB)
    assert not sent.probes.returned(back, 10.01 + PATIENCE)
    assert not Sent({OTHER: FAST}).probes.returned(back, 10.05)


def test_what_did_not_come_back_is_forgotten() -> None:
    sent = Sent()
    [first] = sent.at(10.0)
    sent.at(10.1 + PATIENCE)
    sent.at(10.2 + PATIENCE + EVERY)
    assert not sent.probes.returned(written(first, 0xA, 1, 0xB), 10.05)


@pytest.mark.parametrize("nodes", [(0xA, 2, 0xB), (0xA, 0xB, 1), (0xA, 1), ()])
def test_another_way_is_told_and_not_taken_for_this_one(nodes: tuple[int, ...]) -> None:
    sent = Sent()
    [packet] = sent.at(10.0)
    assert sent.probes.returned(written(packet, *nodes), 10.05)
    assert sent.probes.answers[PROBE].elsewhere == PathId(1, nodes)
    assert not list(sent.probes.trips(10.1))


def test_a_trace_that_somebody_took_away_or_exchanged_is_malformed() -> None:
    sent = Sent()
    [packet] = sent.at(10.0)
    foreign = written(packet, 0xA, 1, 0xB)
    trace = trace_in(foreign.payload)
    assert trace is not None
    option = replace(trace, namespace=2).encode()
    with pytest.raises(DecodeError):
        payload = hop_by_hop(59, option) + packet.upper_layer().data
        sent.probes.returned(replace(foreign, payload=payload), 10.05)


@pytest.mark.parametrize("inside", [b"", bytes(7), bytes([6 << 4]) + bytes(60)])
def test_a_tunnel_with_nothing_sensible_in_it_is_left_to_others(inside: bytes) -> None:
    sent = Sent()
    sent.at(10.0)
    assert not sent.probes.returned(ipv6.Packet(SEGMENT, HERE, 41, inside), 10.05)


def test_a_nonce_without_a_trace_is_malformed() -> None:
    sent = Sent()
    [packet] = sent.at(10.0)
    with pytest.raises(DecodeError):
        sent.probes.returned(ipv6.Packet(SEGMENT, HERE, 59, packet.upper_layer().data), 10.05)


def test_probes_are_a_hundredth_of_what_their_way_carries_at_most_and_bounded_altogether() -> None:
    slow = Sent({PROBE: 64_000})
    [packet] = slow.at(10.0)
    due = slow.probes.next_timer()
    assert due is not None
    assert 8 * len(packet.encode()) / (due - 10.0) == pytest.approx(SHARE * 64_000)
    many = Sent({replace(PROBE, segment=SEGMENT + number): FAST for number in range(400)})
    count = sum(len(many.at(10.0 + tick / 100)) for tick in range(1, 401))
    assert count == pytest.approx(4 * PATH_PROBES_SENT, abs=2)


def test_ways_are_probed_in_turn() -> None:
    sent = Sent({PROBE: FAST, OTHER: FAST})
    assert [packet.destination for packet in sent.at(10.0)] == [PROBE.segment]
    assert [packet.destination for packet in sent.at(10.0 + EVERY / 2)] == [OTHER.segment]
    sent.probes.stop()
    assert sent.probes.next_timer() is None
