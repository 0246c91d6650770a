"""How much longer packets become, and whether switch and links hold that."""

from __future__ import annotations

from ipaddress import IPv6Address
from typing import TYPE_CHECKING

from wayname.config.encapsulation.compression import MOST_MIDDLE, compress
from wayname.config.encapsulation.model import Encapsulation, EncapsulationConfig, IoamTrace, Mode
from wayname.config.tables import mistake

if TYPE_CHECKING:
    from wayname.config.model import Config, Port

LEAST_MTU = 1280  # every link takes packets of that size (RFC 8200, section 5)
IPV6, ETHERNET, TAG, DIRECT_EXPORT, HMAC = 40, 14, 4, 24, 40
MOST_ON_BMV2 = 511  # octets that BMv2 has room for before a packet
MOST_SEGMENTS_ON_BMV2 = 28


def check_room(key: str, carried: Encapsulation, config: Config) -> None:
    """Refuse what the switch or a link cannot hold."""
    known = config.encapsulation
    if carried.source_route:
        _check_source_route(carried, known)
    added = added_octets(carried, known)
    segments = len(known.policy[carried.policy].segments) if carried.policy else 0
    if config.switch.target == "bmv2" and (added > MOST_ON_BMV2 or segments > MOST_SEGMENTS_ON_BMV2):
        wrong = f"{segments} segments and {added} octets in all are more than BMv2 puts on"
        mend = f"carry {MOST_SEGMENTS_ON_BMV2} segments and {MOST_ON_BMV2} octets at most, or take target embedded"
        raise mistake(wrong, mend, key)
    towards = next_destination(carried, carried.prefix.network_address, known)
    port = min(_ports_to(towards, config), key=lambda each: each.mtu, default=None)
    if port is not None and port.mtu < LEAST_MTU + added:
        wrong = f"adds {added} octets, and port {port.number} has an MTU of {port.mtu}"
        mend = f"set its mtu to {LEAST_MTU + added} at least, since a packet of {LEAST_MTU} must fit, or carry less"
        raise mistake(wrong, mend, key)


def added_octets(carried: Encapsulation, known: EncapsulationConfig) -> int:
    """Return the octets that are added to a packet at most."""
    added = _trace_octets(known.trace[carried.trace]) if carried.trace else 0
    if carried.source_route:
        return added + compress(known.source_route[carried.source_route], carried.prefix).octets
    if carried.policy:
        policy = known.policy[carried.policy]
        count = len(policy.segments)
        written = {Mode.INLINE: count + 1, Mode.REDUCED: count - 1, Mode.FRAME_REDUCED: count - 1}
        header = written.get(carried.mode, count)
        added += 8 + 16 * header if header else 0
        added += HMAC if policy.secret else 0
    if carried.mode is Mode.INLINE and carried.policy:
        # A packet with hop-by-hop options gets a tunnel, which has one segment less.
        return added + IPV6 - 16
    if carried.mode is Mode.INLINE and carried.to is None:
        return added
    frame = ETHERNET + TAG if carried.mode in (Mode.FRAME, Mode.FRAME_REDUCED) else 0
    return added + (IPV6 + frame if carried.policy or carried.trace else 0)


def _trace_octets(trace: IoamTrace) -> int:
    """Return the size of the hop-by-hop options with a trace, padded to eight octets."""
    return DIRECT_EXPORT if trace.direct_export else ((4 * trace.words + 12) // 8 + 1) * 8


def _check_source_route(carried: Encapsulation, known: EncapsulationConfig) -> None:
    middle = len(compress(known.source_route[carried.source_route], carried.prefix).middle)
    if middle > MOST_MIDDLE:
        wrong = f"its hops take {middle} octets, and there is room for {MOST_MIDDLE}"
        mend = "name fewer hops, or hops that have more of their prefix in common"
        raise mistake(wrong, mend, "source_route")


def next_destination(carried: Encapsulation, destination: IPv6Address, known: EncapsulationConfig) -> IPv6Address:
    """Return where a packet to a destination goes with what it carries."""
    if carried.policy:
        return known.policy[carried.policy].segments[0]
    if carried.source_route:
        return known.source_route[carried.source_route].hops[0]
    if carried.locator is not None:
        return IPv6Address(carried.locator << 64 | int(destination) & (1 << 64) - 1)
    return carried.to if carried.to is not None and carried.mode is not Mode.INLINE else destination


def _ports_to(destination: IPv6Address, config: Config) -> list[Port]:
    """Return the ports by which packets to a destination may leave; all of them if no route says so."""
    best, vlans = -1, set(config.vlans)
    for interface in config.interfaces:
        for own in interface.global_addresses:
            if destination in own.network and own.network.prefixlen > best:
                best, vlans = own.network.prefixlen, {interface.vlan}
    for route in config.routes:
        if destination in route.prefix and route.prefix.prefixlen > best:
            best, vlans = route.prefix.prefixlen, {hop.vlan for hop, _ in route.via}
    return [port for port in config.ports if vlans & set(port.vlans)]
