"""Who hears of each message of Neighbour Discovery, and of a packet that waits for one (RFC 4861)."""

from __future__ import annotations

from wayname.composition.managers import Managers
from wayname.edge.links import ReceivedPacket
from wayname.wire import discovery
from wayname.wire.discovery import (
    NeighbourAdvertisement,
    NeighbourSolicitation,
    RouterAdvertisement,
    RouterSolicitation,
)
from wayname.wire.ipv6 import ICMPV6


def message(edge: Managers, arrival: ReceivedPacket, now: float) -> None:
    """Give a message to all that hear of its kind, in their order."""
    match discovery.decode(arrival.packet):
        case NeighbourSolicitation() as asked:
            edge.neighbours.asked(arrival, asked.source_mac, now)
            of_host = edge.identities and edge.identities.answers(arrival.interface.vlan, asked.target)
            of_probes = edge.tracking.owns(arrival.interface.vlan, asked.target)
            is_ours = bool(of_host) or of_probes or edge.encapsulation.is_segment(asked.target)
            edge.routers.solicited(arrival, asked, is_ours)
            _seen(edge, arrival, now)
        case NeighbourAdvertisement() as said:
            _seen(edge, arrival, now)
            edge.routers.claimed(arrival, said, now)
            edge.neighbours.advertised(arrival, said, now)
            edge.liveness.advertised(arrival, said, now)
            for manager in edge.managers:
                manager.is_here(said.target, now)
        case RouterSolicitation() as asked:
            edge.neighbours.asked(arrival, asked.source_mac, now)
            edge.routers.router_solicited(arrival, asked, now)
        case RouterAdvertisement() as said:
            edge.neighbours.asked(arrival, said.source_mac, now)
            edge.provider_prefixes.advertised(arrival, said, now)
            if edge.identities:
                edge.identities.advertised(arrival, said, now)


def claimed(edge: Managers, arrival: ReceivedPacket, now: float) -> None:
    """What the switch dropped may have claimed an address of the router."""
    if arrival.packet.upper_layer().number == ICMPV6:
        said = discovery.decode(arrival.packet)
        if isinstance(said, NeighbourAdvertisement):
            edge.routers.claimed(arrival, said, now)


def neighbour_unknown(edge: Managers, arrival: ReceivedPacket, now: float) -> None:
    """Ask for the MAC address of the next hop that a packet waits for."""
    packet = arrival.packet
    for manager in edge.managers:
        packet = manager.restored(packet)
    packet = edge.translation.as_routed(packet)
    if edge.identities:
        packet = edge.identities.as_routed(packet)
    hops = edge.encapsulation.neighbours_for(packet)
    # The switch knows which of an ECMP group's next hops it was; any that is not known may have been it.
    unknown = [hop for hop in hops if edge.neighbours.get(hop) is None]
    for hop in (unknown or hops)[:1]:
        edge.neighbours.wanted(hop, arrival, now)


def _seen(edge: Managers, arrival: ReceivedPacket, now: float) -> None:
    if edge.identities:
        edge.identities.seen(arrival, now)
