"""Providers and their targets, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from wayname.composition.edge import Edge


def tracking_of(edge: Edge) -> Iterator[Metric]:
    """Return whether each provider is used, and what its targets say."""
    used = GaugeMetricFamily("wayname_provider_used", "Whether a provider can be used.", labels=["provider"])
    for provider in edge.config.providers:
        used.add_metric([provider.name], edge.reachability.is_open(provider))
    yield used
    labels = ["provider", "target"]
    up = GaugeMetricFamily("wayname_track_target_up", "Whether a target answers through a provider.", labels=labels)
    loss = GaugeMetricFamily("wayname_track_loss_ratio", "Part of the last 20 probes that was lost.", labels=labels)
    delay = GaugeMetricFamily("wayname_track_delay_seconds", "Mean round trip of the last 20 probes.", labels=labels)
    unexpected = CounterMetricFamily(
        "wayname_track_unexpected_answers", "Packets to where probes come from that answer none.", labels=["provider"]
    )
    for name, tracked in edge.tracking.providers.items():
        unexpected.add_metric([name], tracked.unexpected)
        for target in tracked.targets:
            who = [name, str(target.target)]
            up.add_metric(who, target.is_up)
            if target.loss is not None:
                loss.add_metric(who, target.loss)
            if target.delay is not None:
                delay.add_metric(who, target.delay)
    yield from (up, loss, delay, unexpected)
