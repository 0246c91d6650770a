"""Schedules, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from wayname.session.scheduling.schedules import Schedules


def schedules_of(schedules: Schedules) -> Iterator[Metric]:
    """Sessions that go by several paths at once, and the paths; those of one schedule by the set that is used."""
    if not schedules.rules:
        return
    sessions = GaugeMetricFamily("wayname_schedule_sessions", "Sessions by several paths at once.", labels=["schedule"])
    labels = ["schedule", "registers", "path"]
    opened = GaugeMetricFamily("wayname_schedule_path_open", "Whether packets take a path.", labels=labels)
    for name in schedules.rules:
        groups = schedules.groups(name)
        sessions.add_metric([name], sum(len(group.sessions) for group in groups))
        for group in groups:
            for path, known in zip(group.paths, group.known, strict=True):
                opened.add_metric([name, str(group.registers.schedule), path.name], not known.closed)
    yield sessions
    yield opened
