"""Probes along the ways of schedules, there and back, so that their traces end at who wants to know.

A probe is a packet of the router with a trace (RFC 9197), the active flag (RFC 9322, section 5) and two segments
(RFC 8754): one of the peer, which sends on what comes there, and an address of this router.

    IPv6 from that address | trace, room for the way there | segments: the peer's, that address | nonce (16 octets)

Only what bears the nonce of a probe that is under way is believed, and once: nobody knows that but who forwards it. The
first half of all nonces is the same, so that the switch meters what comes back apart from what others send the router.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from wayname.config.schedules import PROBED_WORDS, Probe
from wayname.edge.inner_link import submitted
from wayname.edge.outputs import Outputs
from wayname.edge.punt_limits import PATH_PROBES_SENT
from wayname.ioam.nodes import ids_of, nodes_of
from wayname.ioam.options import ACTIVE, TraceOption, hop_by_hop, trace_in
from wayname.ioam.path_metrics import PathId
from wayname.ioam.round_trips import RoundTrips
from wayname.pipeline.punts import own_probe
from wayname.timers import Timers
from wayname.wire import ipv6
from wayname.wire.errors import DecodeError
from wayname.wire.segments import SegmentHeader

# Seconds between two probes of a way, for how long one may be under way, and what remains of it when nothing comes.
EVERY = 0.2
PATIENCE = 5.0
STALE = 30.0
# Of the capacity of a way at most this share (RFC 9322, section 5); all ways together have PATH_PROBES_SENT a second.
SHARE = 0.01
NONCE_OCTETS = 16
MARK_OCTETS = 8
NO_NEXT_HOP = 0
# The bits of what is asked for: id and hop limit, seconds, fraction, delay, queue.
FIELDS = 0b1011_1010 << 16
_NO_NEXT_HEADER = 59
_IPV6 = 41


@dataclass(slots=True)
class ProbeAnswers:
    """What became of the probes of a way."""

    sent: int = 0
    came: int = 0
    # By which nodes the last one went, if not by those of the way.
    elsewhere: PathId | None = None
    trips: RoundTrips | None = None


class Probes:
    """Sends probes in turn, and keeps what those tell that come back."""

    def __init__(
        self,
        bandwidths: Mapping[Probe, float],
        vlans: Iterable[int],
        device_id: int,
        outputs: Outputs,
        rng: random.Random,
    ) -> None:
        self._outputs = outputs
        # The first half of every nonce: by it the switch knows what comes back, on whichever link.
        self._mark = rng.randbytes(MARK_OCTETS)
        for vlan in vlans if bandwidths else ():
            outputs.desired.put(own_probe(vlan, self._mark, NO_NEXT_HOP))
        self._device_id = device_id
        self._rng = rng
        least = max(EVERY, len(bandwidths) / PATH_PROBES_SENT)
        self._every = {
            probe: max(least, 8 * len(_packet(probe, bytes(NONCE_OCTETS)).encode()) / (SHARE * bandwidth))
            for probe, bandwidth in bandwidths.items()
        }
        self._timers: Timers[Probe] = Timers()
        self._under_way: dict[bytes, tuple[Probe, float]] = {}
        self.answers = {probe: ProbeAnswers() for probe in bandwidths}

    def start(self, now: float) -> None:
        """Send from now on."""
        for number, (probe, every) in enumerate(self._every.items()):
            self._timers.set(probe, now + every * number / len(self._every))

    def stop(self) -> None:
        """Send nothing while the switch is away."""
        for probe in self._every:
            self._timers.cancel(probe)

    def next_timer(self) -> float | None:
        """Return when the next probe is due."""
        return self._timers.next()

    def handle_timer(self, now: float) -> None:
        """Send what is due; what did not come back for long never will."""
        for nonce, (_, sent) in list(self._under_way.items()):
            if now <= sent + PATIENCE:
                break
            del self._under_way[nonce]
        for probe in list(self._timers.due(now)):
            nonce = self._mark + self._rng.randbytes(NONCE_OCTETS - MARK_OCTETS)
            self._under_way[nonce] = probe, now
            self.answers[probe].sent += 1
            self._outputs.packet(submitted(_packet(probe, nonce), self._device_id))
            self._timers.set(probe, now + self._every[probe])

    def returned(self, packet: ipv6.Packet, now: float) -> bool:
        """Whether a packet to the router is a probe that comes back; then it is taken."""
        if not self._under_way:
            return False
        try:
            packet = _unwrapped(packet)
            upper = packet.upper_layer()
        except DecodeError:
            # Whoever answers what is for the router may have something to say about it.
            return False
        if upper.number != _NO_NEXT_HEADER:
            return False
        probe, sent = self._under_way.pop(upper.data, (None, 0.0))
        if probe is None or now > sent + PATIENCE:
            return False
        self._take(self.answers[probe], probe, packet, now - sent, now)
        return True

    def trips(self, now: float) -> Iterator[tuple[Probe, RoundTrips]]:
        """Yield what is known of ways and still true."""
        for probe, answers in self.answers.items():
            if answers.trips is not None and now < answers.trips.there.last + STALE:
                yield probe, answers.trips

    def _take(self, answers: ProbeAnswers, probe: Probe, packet: ipv6.Packet, both: float, now: float) -> None:
        answers.came += 1
        trace = trace_in(packet.payload) if packet.next_header == ipv6.HOP_BY_HOP else None
        if trace is None or trace.namespace != probe.trace.namespace:
            raise DecodeError("a probe that lost its trace")
        nodes = nodes_of(trace)
        path = PathId(trace.namespace, tuple(ids_of(nodes)))
        answers.elsewhere = None if path == probe.trace else path
        if answers.elsewhere is not None:
            return
        if answers.trips is None or now >= answers.trips.there.last + STALE:
            answers.trips = RoundTrips.of(path, now)
        answers.trips.take(nodes, round(both * 1e9), now)


def _packet(probe: Probe, nonce: bytes) -> ipv6.Packet:
    """Return a probe. It has no room for the way back, of which nobody here wants to know."""
    words = PROBED_WORDS * len(probe.trace.nodes)
    trace = TraceOption(probe.trace.namespace, PROBED_WORDS, ACTIVE, words, FIELDS, bytes(4 * words))
    # The path's last segment comes first (RFC 8754, section 2).
    segments = SegmentHeader(1, (probe.source, probe.segment)).encode(_NO_NEXT_HEADER)
    payload = hop_by_hop(ipv6.ROUTING, trace.encode()) + segments + nonce
    return ipv6.Packet(probe.source, probe.segment, ipv6.HOP_BY_HOP, payload)


def _unwrapped(packet: ipv6.Packet) -> ipv6.Packet:
    """Return what is in a tunnel: where providers look at sources, the peer sends probes back in one of its own."""
    upper = packet.upper_layer()
    return ipv6.Packet.decode(upper.data) if upper.number == _IPV6 else packet
