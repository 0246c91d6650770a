"""QUIC by hosts behind edges that tell each other: what the program gets is what was sent."""

from __future__ import annotations

from bench.multipath.disturbed import ROUTES
from bench.multipath.measured_scene import QUIC_PORT, quic_hosts
from bench.multipath.whole_edges import RECEIVER, SENDER, WholeEdges
from wayname.config.schedules import SchedulingPolicy

OCTETS = 400_000


def test_a_stream_comes_whole_and_in_order() -> None:
    edges = WholeEdges(ROUTES, 5, SchedulingPolicy.FASTEST_FIRST)
    hosts = quic_hosts(edges, 5)
    edges.begin_to_count()
    edges.lab.command(RECEIVER, "quic_receive", port=QUIC_PORT)
    edges.lab.command(SENDER, "quic_send", to=edges.address(RECEIVER), port=QUIC_PORT, bytes=OCTETS)
    edges.lab.run_for(3.0)
    received = edges.lab.events_of(RECEIVER, "quic_received")
    assert sum(each["bytes"] for each in received) == OCTETS
    assert all(each["intact"] for each in received)
    assert not any(host.packets.reordered for host in hosts)
    assert edges.octets.numbers > 0, "packets have numbers"
