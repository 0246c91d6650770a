"""Traces that come to the controller: those that end here are collected, those that are to go back are sent back."""

from __future__ import annotations

from collections.abc import Callable

from wayname.config.encapsulation.model import LOOPBACK_TYPE, EncapsulationConfig
from wayname.edge.links import Links, ReceivedPacket
from wayname.ioam.collector import Collector
from wayname.ioam.nodes import NodeData, nodes_of
from wayname.ioam.options import LOOPBACK, TraceOption, hop_by_hop, trace_in
from wayname.p4_constants import Punt
from wayname.wire import ipv6

_NO_NEXT_HEADER = 59
_HOP_LIMIT = 64


class TraceEnds:
    """What becomes of packets with traces; the collector may be looked at."""

    def __init__(self, links: Links, current: Callable[[], EncapsulationConfig]) -> None:
        self._links = links
        self._current = current
        self.collector = Collector()

    def punted(self, arrival: ReceivedPacket, now: float) -> None:
        """A copy of a packet whose trace ends here, or is to go back; with this node's data in it."""
        trace = _trace_of(arrival.packet)
        if trace is None:
            return
        if trace.flags & LOOPBACK and trace.type == LOOPBACK_TYPE:
            self._send_back(arrival, trace)
        if arrival.original.reason == Punt.TRACE:
            self.collector.trace(trace, arrival.packet.source, arrival.packet.destination, now)

    def returned(self, arrival: ReceivedPacket, now: float) -> bool:
        """Whether a packet to the router is a trace that some node sent back (RFC 9322, section 4.4)."""
        if arrival.packet.upper_layer().number != _NO_NEXT_HEADER:
            return False
        trace = _trace_of(arrival.packet)
        if trace is not None and self._began_here(trace, arrival.port):
            self.collector.trace(trace, arrival.packet.source, arrival.packet.destination, now)
        return trace is not None

    def _began_here(self, trace: TraceOption, port: int) -> bool:
        first = next(iter(nodes_of(trace)), NodeData()).id
        known = next((each for each in self._current().namespaces if each.number == trace.namespace), None)
        return known is not None and first == known.node and port in known.ports and not trace.flags & LOOPBACK

    def _send_back(self, arrival: ReceivedPacket, trace: TraceOption) -> None:
        """Send the trace to who put it on, without what is behind it, and never again (section 4.2)."""
        options = hop_by_hop(_NO_NEXT_HEADER, trace.turned().encode())
        source = arrival.interface.error_address
        packet = ipv6.Packet(source, arrival.packet.source, ipv6.HOP_BY_HOP, options, _HOP_LIMIT)
        self._links.send(arrival.interface, arrival.port, arrival.frame.source, packet)


def _trace_of(packet: ipv6.Packet) -> TraceOption | None:
    return trace_in(packet.payload) if packet.next_header == ipv6.HOP_BY_HOP else None
