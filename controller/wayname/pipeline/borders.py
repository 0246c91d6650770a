"""One builder for each table of a site's border (docs/nptv6.md): domain types in, finsy's entities out."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address, IPv6Network

import finsy as fy

from wayname.config.nptv6 import Nptv6Policy
from wayname.nptv6 import ONES, SUBNET_PREFIX, PrefixMapping
from wayname.p4_constants import BorderSide, ProviderHealth
from wayname.pipeline.entries import prefix_keys, table_entry
from wayname.wire.flow import Flow
from wayname.wire.mac import Mac

ALL_OF_SITE = 0xFFFF
ALL_OF_PROTOCOL = 0xFF


def border_interface(vlan: int, mac: Mac, address: IPv6Address, side: BorderSide) -> fy.P4TableEntry:
    """The router on a VLAN of the border."""
    arguments = {"mac": mac.value, "address": int(address), "side": int(side)}
    return table_entry("interfaces", {"vlan": vlan}, "set_border_interface", **arguments)


def from_site(prefix: IPv6Network, site: int) -> fy.P4TableEntry:
    """Sources inside that are translated."""
    return table_entry("urpf_sources", prefix_keys("source", prefix), "from_site", site=site)


def own_source(prefix: IPv6Network) -> fy.P4TableEntry:
    """Sources of ours that leave as they are."""
    return table_entry("urpf_sources", prefix_keys("source", prefix), "own_source")


def stay_in_site(prefix: IPv6Network) -> fy.P4TableEntry:
    """Destinations that are the router's own, or the link's."""
    return table_entry("nptv6_destinations", prefix_keys("destination", prefix), "stay_in_site")


def inside_network(prefix: IPv6Network) -> fy.P4TableEntry:
    """Hosts inside, by the addresses that they have inside."""
    return table_entry("nptv6_destinations", prefix_keys("destination", prefix), "inside_network")


def untranslated_inbound(prefix: IPv6Network, site: int, provider: int) -> fy.P4TableEntry:
    """The prefix inside, which is a provider's."""
    return table_entry(
        "nptv6_destinations", prefix_keys("destination", prefix), "untranslated_inbound", site=site, by=provider
    )


def nptv6_inbound(mapping: PrefixMapping, site: int, provider: int) -> fy.P4TableEntry:
    """What comes to a provider's prefix is for the inside."""
    key = prefix_keys("destination", IPv6Network((mapping.outside.network_address, mapping.bits)))
    change = _change(mapping.outside, mapping.inside, mapping.bits, ONES - mapping.adjustment)
    return table_entry("nptv6_destinations", key, "nptv6_inbound", site=site, by=provider, **change)


def nptv6_outbound(mapping: PrefixMapping, site: int, provider: int) -> fy.P4TableEntry:
    """What leaves by a provider bears its prefix."""
    change = _change(mapping.inside, mapping.outside, mapping.bits, mapping.adjustment)
    return table_entry("nptv6_sources", {"site": site, "provider": provider}, "nptv6_outbound", **change)


def untranslated_outbound(site: int, provider: int) -> fy.P4TableEntry:
    """What leaves by a provider bears its prefix already."""
    return table_entry("nptv6_sources", {"site": site, "provider": provider}, "untranslated_outbound")


def _change(old: IPv6Network, new: IPv6Network, bits: int, difference: int) -> dict[str, int]:
    return {
        "old": int(old.network_address),
        "new": int(new.network_address),
        "mask": _mask(bits),
        "difference": difference,
        "in_subnet": int(bits <= SUBNET_PREFIX),
    }


def _mask(bits: int) -> int:
    return (1 << 128) - (1 << 128 - bits)


def buckets(policy: int, homes: list[int], serving: list[int]) -> Iterator[fy.P4TableEntry]:
    """By which providers the flows of a policy begin, and by which now; 0 is none."""
    for number, (home, now) in enumerate(zip(homes, serving, strict=True)):
        yield table_entry("hash_buckets", {"policy": policy, "bucket": number}, "set_bucket", owner=home, now=now)


def flow_policy(number: int, priority: int, site: int, policy: Nptv6Policy) -> fy.P4TableEntry:
    """Flows that have buckets of their own; the highest priority comes first."""
    keys: dict[str, int | tuple[int, int]] = {"site": (site, ALL_OF_SITE)}
    for key, prefix in (("local", policy.local), ("remote", policy.remote)):
        if prefix is not None and prefix.prefixlen:
            keys[key] = (int(prefix.network_address), _mask(prefix.prefixlen))
    if policy.protocol is not None:
        keys["next_header"] = (policy.protocol, ALL_OF_PROTOCOL)
    for key, ports in (("local_port", policy.local_ports), ("remote_port", policy.remote_ports)):
        if ports is not None and ports != (0, 0xFFFF):
            keys[key] = ports
    entry = table_entry("flow_policies", keys, "use_flow_policy", number=number)
    entry.priority = priority
    return entry


def provider_state(provider: int, state: ProviderHealth) -> fy.P4TableEntry:
    """Whether a provider works."""
    return table_entry("provider_states", {"provider": provider}, "set_provider_state", now=int(state))


def established_flow(flow: Flow, provider: int, is_translated: bool, idle: float) -> fy.P4TableEntry:
    """A flow whose slot a switch may not have; the switch says when nothing of it passed for so many seconds."""
    keys: dict[str, int | tuple[int, int]] = {
        "local": int(flow.local),
        "remote": int(flow.remote),
        "next_header": flow.protocol,
        "local_port": flow.local_port,
        "remote_port": flow.remote_port,
    }
    entry = table_entry(
        "established_flows", keys, "use_established_flow", provider=provider, translated=int(is_translated)
    )
    entry.idle_timeout_ns = int(idle * 1e9)
    return entry


def flow_of(entry: fy.P4TableEntry) -> Flow:
    """Return the flow that an entry is of."""
    return Flow(
        IPv6Address(entry["local"]),
        IPv6Address(entry["remote"]),
        entry["next_header"],
        entry["local_port"],
        entry["remote_port"],
    )
