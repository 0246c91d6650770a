"""What may come to the controller, by class and port: entries that follow from the configuration alone.

What nobody asked for and belongs to nobody known shares what the controller bears: each source has a rate, each reason
has half of its port's share, each port its share, and all ports together have no more than that. What is known has a
rate of its own at each port, so that no newcomer crowds it out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from math import ceil

from wayname.config.model import Config
from wayname.edge.desired_state import DesiredState
from wayname.p4_constants import Punt, PuntClass
from wayname.pipeline import punts
from wayname.pipeline.reasons import CAPTURES

# Packets a second. A neighbour is asked twice a minute for each of its addresses, and asks as often.
NEIGHBOURS = 200
NEIGHBOUR = 20
# Probes that come back, of each next hop and each target, for each that was sent: some that were late, no more.
PROBES_FOR_EACH = 4
LEAST_PROBES = 20
# Probes of paths, of all ways together: as many come back as were sent, and some that were late.
PATH_PROBES_SENT = 200
PATH_PROBES = 2 * PATH_PROBES_SENT
# Of what hosts send while their session is not answered.
HELD = 1000
HELD_OF_SESSION = 200
# Each is answered by a packet to who put the trace on, and that may be a fraction of the traffic only (RFC 9322, 4.2).
LOOPBACK = 100
# Of other routers of a virtual router: some times as many as the shortest interval makes.
VRRP = 100


@dataclass(frozen=True, slots=True)
class PuntRates:
    """Packets a second of a class: by one port, and from one source. Newcomers share what is their port's."""

    port: int
    source: int
    shares: bool = False


def want_punt_limits(config: Config, reasons: Iterable[int], desired: DesiredState) -> None:
    """Want the meters of all classes at all ports, those of protocols that P4 does not know among them."""
    limits = config.limits
    share = limits.share(len(config.ports))
    desired.put(punts.total_rate(limits.punts))
    for port in config.ports:
        desired.put(punts.port_share(port.number, share))
    for punt_class, rates in _rates(config, {*Punt, *reasons}, share):
        desired.put(punts.source_limit(punt_class, rates.source, 2 * rates.source, rates.shares))
        for port in config.ports:
            desired.put(punts.class_rate(punt_class, port.number, rates.port))


def _rates(config: Config, reasons: Collection[int], share: int) -> Iterator[tuple[int, PuntRates]]:
    limits = config.limits
    newcomers = PuntRates(max(1, share // 2), limits.source, shares=True)
    ways = [route.via for route in config.routes] + [provider.via for provider in config.providers]
    hops = {hop for via in ways for hop, _ in via}
    probes = max(LEAST_PROBES, _probes(config.timing.probe) * len(hops)) + PATH_PROBES
    tracks = [provider.track for provider in config.providers if provider.track is not None]
    probes += sum(_probes(track.interval) * len(track.targets) for track in tracks)
    known = {
        PuntClass.PROBE: PuntRates(probes, probes),
        PuntClass.NEIGHBOUR: PuntRates(NEIGHBOURS, NEIGHBOUR),
        PuntClass.SESSION: PuntRates(limits.sessions, limits.session),
        PuntClass.HELD: PuntRates(HELD, HELD_OF_SESSION),
        # A fraction of the traffic of known ways, which may all be from one source.
        Punt.TRACE: PuntRates(limits.punts, limits.punts),
        Punt.LOOPBACK: PuntRates(LOOPBACK, LOOPBACK),
    }
    if config.vrrp:
        known[Punt.VRRP] = PuntRates(VRRP, VRRP)
    yield from known.items()
    for reason in sorted(reasons):
        # A session's copies have a class of their own always.
        if reason not in CAPTURES and reason not in known and reason != Punt.SESSION_HELD:
            yield reason, newcomers


def _probes(interval: float) -> int:
    return ceil(PROBES_FOR_EACH / interval)
