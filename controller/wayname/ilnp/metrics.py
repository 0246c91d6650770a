"""Sessions between identifiers, for Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from wayname.ilnp.edge.manager import IlnpSessions
from wayname.session.protocol import SessionManager


def metrics_of(known: SessionManager) -> Iterator[Metric]:
    """How many sessions there are, where they leave, what room is left, what was refused."""
    if not isinstance(known, IlnpSessions):
        return
    by_provider = Counter(known.provider_of(session.source_address) or "" for session in known)
    sessions = GaugeMetricFamily("wayname_ilnp_sessions", "Sessions between identifiers.", labels=["provider"])
    for provider, count in sorted(by_provider.items()):
        sessions.add_metric([provider], count)
    yield sessions
    yield GaugeMetricFamily("wayname_ilnp_cache_entries", "Places of the cache that are taken.", known.places)
    yield GaugeMetricFamily("wayname_ilnp_cache_size", "Places of the cache.", known.rules.capacity)
    yield CounterMetricFamily("wayname_ilnp_admitted", "Sessions that were admitted.", known.admitted)
    told = CounterMetricFamily("wayname_ilnp_events", "What the endpoint told, by kind.", labels=["kind"])
    for kind, count in sorted(known.told.items()):
        told.add_metric([kind], count)
    yield told
