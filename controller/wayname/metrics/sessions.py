"""Sessions and their paths, for Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from ipaddress import IPv6Address

from prometheus_client.core import GaugeMetricFamily, Metric

from wayname.composition.edge import Edge
from wayname.session.watched_sessions import WatchedSessions


def sessions_of(edge: Edge) -> Iterator[Metric]:
    """Return how many sessions there are, by whom they leave, and how many paths they have to choose from."""
    sessions = GaugeMetricFamily(
        "wayname_sessions", "Sessions by the provider of the path in use.", labels=["protocol", "provider"]
    )
    paths = GaugeMetricFamily("wayname_session_paths", "Paths of all sessions.", labels=["protocol"])
    trusted = GaugeMetricFamily("wayname_session_paths_verified", "Of them, paths that worked.", labels=["protocol"])
    exploring = GaugeMetricFamily(
        "wayname_sessions_exploring", "Sessions that look for a path that works.", labels=["protocol"]
    )
    for protocol, managers in edge.spoken:
        for keeper in managers:
            if not isinstance(keeper, WatchedSessions):
                continue
            by_network: Counter[int] = Counter()
            counted = Counter(paths=0, trusted=0, exploring=0)
            for session in keeper:
                by_network[int(session.pair.local) >> 64] += 1
                counted.update(paths=len(session.paths), trusted=len(session.trusted), exploring=int(session.exploring))
            by_provider: Counter[str] = Counter()
            for network, count in by_network.items():
                by_provider[keeper.provider_of(IPv6Address(network << 64)) or ""] += count
            for provider, count in by_provider.items():
                sessions.add_metric([protocol.name, provider], count)
            paths.add_metric([protocol.name], counted["paths"])
            trusted.add_metric([protocol.name], counted["trusted"])
            exploring.add_metric([protocol.name], counted["exploring"])
    yield from (sessions, paths, trusted, exploring)
