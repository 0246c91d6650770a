"""Traces that end at the switch in process, go back from it, and are exported by it."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from rig import Host, Rig

from wayname.ioam.options import ACTIVE, LOOPBACK, TraceOption, direct_export_option, hop_by_hop, trace_in
from wayname.ioam.path_metrics import PathId
from wayname.wire import ipv6

END = IPv6Address("2001:db8:1::d")
ELSEWHERE = IPv6Address("2001:db8:9::1")
TIMED = 0xBA0000  # node, seconds, fraction, delay, queue
SENT_AT = 1_200_000


@pytest.fixture
def provider(rig: Rig) -> Host:
    provider = Host(rig, 2, 100, "02:00:00:00:00:64", "2001:db8:100::1")
    rig.advance(2)
    return provider


def begun(type_: int = TIMED, flags: int = 0, nodes: int = 3) -> TraceOption:
    """A trace with the data of its first node, 5, and room for more."""
    each = type_.bit_count()
    first = (5, SENT_AT // 1_000_000, SENT_AT % 1_000_000, 2000, 1)[:each]
    data = bytes(4 * each * (nodes - 1)) + b"".join(word.to_bytes(4) for word in first)
    return TraceOption(1, each, flags, each * (nodes - 1), type_, data)


def tunnel(host: Host, trace: TraceOption, to: IPv6Address = END) -> ipv6.Packet:
    inside = ipv6.Packet(ELSEWHERE, host.addresses[-1], 17, bytes(8))
    return ipv6.Packet(IPv6Address("2001:db8:9::5"), to, 0, hop_by_hop(41, trace.encode()) + inside.encode())


def test_what_ends_here_is_collected(rig: Rig, host: Host, provider: Host) -> None:
    for _ in range(3):
        provider.send(tunnel(host, begun()))
        rig.advance(0.5)
    [figures] = rig.edge.encapsulation.traces.collector.paths()
    assert figures.id == PathId(1, (5, 0xABC))
    assert figures.count == 3
    assert figures.delay.last == pytest.approx((rig.now - 0.5) * 1e9 - SENT_AT * 1000, abs=3e6)
    assert [node.node for node in figures.nodes] == [5, 0xABC]
    assert (figures.nodes[1].ingress, figures.nodes[0].delay.last) == (None, 2000)


def test_a_probe_ends_with_its_trace(rig: Rig, host: Host, provider: Host) -> None:
    assert host.heard(provider.send(tunnel(host, begun(flags=ACTIVE)))) == []
    assert [figures.count for figures in rig.edge.encapsulation.traces.collector.paths()] == [1]


def test_foreign_traces_are_not_collected(rig: Rig, host: Host) -> None:
    rig.advance(2)
    host.send(tunnel(host, begun()))
    assert rig.edge.encapsulation.traces.collector.paths() == []


class TestLoopback:
    def test_a_copy_goes_back_without_what_it_carried(self, rig: Rig, host: Host, provider: Host) -> None:
        trace = begun(0x800000, LOOPBACK, nodes=4)
        sent = provider.send(tunnel(host, trace, to=ELSEWHERE))
        [back] = [packet for packet in provider.heard(sent) if packet.destination == IPv6Address("2001:db8:9::5")]
        assert back.source == IPv6Address("2001:db8:100::2")
        option = trace_in(back.payload)
        assert option is not None
        assert (option.flags, option.words_left) == (0, 2)
        assert option.data[8:12] == bytes([64]) + (0xABC).to_bytes(3)
        assert back.payload == hop_by_hop(59, option.encode())

    def test_also_where_the_tunnel_ends(self, host: Host, provider: Host) -> None:
        trace = begun(0x800000, LOOPBACK, nodes=4)
        provider.send(tunnel(host, trace))
        sent = provider.send(tunnel(host, trace))
        assert [packet.payload[0] for packet in provider.heard(sent) if packet.next_header == 0] == [59]

    def test_only_some_a_second(self, rig: Rig, host: Host, provider: Host) -> None:
        packet = tunnel(host, begun(0x800000, LOOPBACK, nodes=4), to=ELSEWHERE)
        back = 0
        for _ in range(150):
            back += sum(1 for each in provider.heard(provider.send(packet)) if each.payload[0] == 59)
        assert back == 100

    def test_what_comes_back_is_collected_if_it_began_here(self, rig: Rig, provider: Host) -> None:
        def back(first: int) -> None:
            data = bytes.fromhex("00000000 3e000005 3f000000")
            option = TraceOption(1, 1, 0, 1, 0x800000, data[:-3] + first.to_bytes(3))
            own = IPv6Address("2001:db8:1::1")
            provider.send(ipv6.Packet(ELSEWHERE, own, 0, hop_by_hop(59, option.encode())))

        back(0xDEF)
        back(0xABC)
        assert [figures.id.nodes for figures in rig.edge.encapsulation.traces.collector.paths()] == [(0xABC, 5)]


def test_direct_exports_tell_of_losses(rig: Rig, host: Host, provider: Host) -> None:
    for sequence in (0, 1, 4, 5):
        options = hop_by_hop(17, direct_export_option(1, 9, sequence))
        provider.send(ipv6.Packet(ELSEWHERE, host.addresses[-1], 0, options + bytes(8)))
    rig.advance(0.1)
    [figures] = rig.edge.encapsulation.traces.collector.flows()
    assert (figures.flow, figures.node, figures.lost) == (9, 0xABC, 2)
    assert figures.time / 1e6 == pytest.approx(rig.now - 0.1, abs=0.003)
    assert (figures.ingress, figures.egress, figures.hop_limit) == (2, 1, 63)
