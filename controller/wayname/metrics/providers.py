"""Providers and the next hops behind them, for Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from wayname.composition.edge import Edge
from wayname.edge.liveness import NextHopHealth
from wayname.edge.nptv6.nptv6 import Nptv6Manager
from wayname.p4_constants import ProviderHealth
from wayname.snapshot.switch_snapshot import SwitchSnapshot

# By direction, the table whose entries count what NPTv6 translated.
TRANSLATED = {"sent": "nptv6_sources", "received": "nptv6_destinations"}


def providers_of(edge: Edge, now: float) -> Iterator[Metric]:
    """Return which providers work."""
    if edge.config.prefix_sources:
        lasts = GaugeMetricFamily(
            "wayname_provider_prefix_seconds",
            "How long a delegated prefix is preferred and valid; +Inf is without end.",
            labels=["provider", "prefix", "lifetime"],
        )
        for name, source in edge.provider_prefixes.sources.items():
            for held in source.prefixes.values():
                for lifetime, until in (("preferred", held.preferred), ("valid", held.valid)):
                    lasts.add_metric([name, str(held.network), lifetime], max(until - now, 0.0))
        yield lasts
    if edge.config.providers:
        hops = GaugeMetricFamily(
            "wayname_provider_next_hops", "Next hops of a provider.", labels=["provider", "health"]
        )
        for provider in edge.config.providers:
            healths = Counter(edge.liveness.health(hop) for hop, _ in provider.via)
            for health in NextHopHealth:
                hops.add_metric([provider.name, health], healths[health])
        yield hops
    probes = CounterMetricFamily(
        "wayname_next_hop_probes",
        "Probes of next hops: in time, or later, for want of processor time.",
        labels=["sent"],
    )
    probes.add_metric(["in_time"], edge.liveness.probes - edge.liveness.put_off)
    probes.add_metric(["put_off"], edge.liveness.put_off)
    yield probes
    translation = edge.translation
    if translation.providers:
        up = GaugeMetricFamily("wayname_provider_up", "Whether a provider works.", labels=["provider"])
        buckets = GaugeMetricFamily(
            "wayname_provider_buckets", "Buckets of flows, of 256 for each rule.", labels=["provider", "of"]
        )
        for name, each in translation.providers.items():
            up.add_metric([name], each.state is ProviderHealth.WORKS)
            home, serves = translation.share(name)
            buckets.add_metric([name, "home"], home)
            buckets.add_metric([name, "serves"], serves)
        yield from (up, buckets)
        flows = CounterMetricFamily("wayname_nptv6_failed_flows", "Flows whose provider failed.", labels=["fate"])
        for fate, count in translation.flows.counts.items():
            flows.add_metric([fate.value], count)
        yield flows
        yield GaugeMetricFamily(
            "wayname_nptv6_established_flows", "Flows that are kept for the next switch.", len(translation.established)
        )
        yield CounterMetricFamily(
            "wayname_nptv6_refused_flows",
            "Established flows that there was no room to keep.",
            translation.established.refused,
        )


def translated_by(translation: Nptv6Manager, switch_snapshot: SwitchSnapshot) -> Iterator[Metric]:
    """Return what NPTv6 translated for each provider."""
    if not translation.providers:
        return
    labels = ["provider", "direction"]
    packets = CounterMetricFamily("wayname_provider_packets", "Packets that NPTv6 translated.", labels=labels)
    octets = CounterMetricFamily("wayname_provider_bytes", "Bytes that NPTv6 translated.", labels=labels)
    for name, provider in translation.providers.items():
        for direction in TRANSLATED:
            counted = translated(switch_snapshot, TRANSLATED[direction], provider.number)
            packets.add_metric([name, direction], counted["packets"])
            octets.add_metric([name, direction], counted["bytes"])
    yield from (packets, octets)


def translated(switch_snapshot: SwitchSnapshot, table: str, provider: int) -> Counter[str]:
    """Return the packets and bytes that entries of a provider counted."""
    counts: Counter[str] = Counter()
    for entry in switch_snapshot.tables[table]:
        if entry.match.get("provider", entry.parameters.get("by")) == provider:
            counts.update(packets=entry.count.packets, bytes=entry.count.bytes)
    return counts
