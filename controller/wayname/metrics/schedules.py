"""Schedules, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from wayname.session.scheduling.schedules import Schedules


def schedules_of(schedules: Schedules) -> Iterator[Metric]:
    """Sessions that go by several paths at once, and the paths that they take."""
    if not schedules.rules:
        return
    sessions = GaugeMetricFamily("wayname_schedule_sessions", "Sessions by several paths at once.", labels=["schedule"])
    labels = ["schedule", "registers", "path"]
    opened = GaugeMetricFamily("wayname_schedule_path_open", "Whether packets take a path.", labels=labels)
    for name in schedules.rules:
        group = schedules.group(name)
        sessions.add_metric([name], len(group.sessions) if group else 0)
        if group is None:
            continue
        for way in group.ways:
            path = group.rule.config.paths[way].name
            opened.add_metric([name, str(group.registers.schedule), path], not group.known[way].closed)
    yield sessions
    yield opened
